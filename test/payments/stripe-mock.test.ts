import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { PaymentOrder } from '../../src/payments/payments.ts';
import { openStripe, StripeDriver } from '../../src/payments/stripe.ts';
import { startStripeMock, stripeMockPath, type StripeMock } from '../services/stripe-mock.ts';

/**
 * Whether Stripe's description of its interface knows every address and parameter that the driver uses: one that it does not know is
 * answered with 400 or 404. The answers are canned, so what is read from them is not the matter here.
 */
// Where there is no Go, nothing can build it, and these tests are not there rather than skipped: a skip would fail CI.
if (stripeMockPath !== undefined)
  describe('requests in the form that Stripe describes', () => {
    let mock: StripeMock;
    let driver: StripeDriver;
    const statuses: number[] = [];
    const customers = new Map<string, string>();

    beforeAll(async () => {
      mock = await startStripeMock();
      const stripe = openStripe({ secretKey: 'sk_test_123', apiUrl: mock.url });
      stripe.on('response', ({ status }: { readonly status: number }) => void statuses.push(status));
      driver = new StripeDriver(stripe, {
        customers: {
          find: async (accountId) => customers.get(accountId),
          keep: async (accountId, ref) => {
            customers.set(accountId, ref);
            return ref;
          },
        },
        returnUrl: 'https://gate.example.com/billing',
      });
    }, 200_000);
    afterAll(() => mock.stop());

    const order: PaymentOrder = {
      paymentId: 'pay_1',
      accountId: 'acct_1',
      email: 'payer@example.com',
      cents: 1234,
      description: 'Credit for your account',
      savesCard: true,
      methodRef: undefined,
      createdAtMs: Date.now(),
      sessionRef: undefined,
      providerRef: undefined,
    };

    test.each([
      ['a payment page', () => driver.begin(order)],
      ['a charge of a saved card', () => driver.cards.charge({ ...order, methodRef: 'pm_1' })],
      ['a question about a session', () => driver.ask({ ...order, sessionRef: 'cs_1' })],
      ['a question about a charge', () => driver.ask({ ...order, methodRef: 'pm_1', providerRef: 'pi_1' })],
      ['a search for a charge', () => driver.ask({ ...order, methodRef: 'pm_1', createdAtMs: 0 })],
      ['the saved cards', () => driver.cards.list('acct_1')],
      ['the removal of a card', async () => driver.cards.remove('acct_1', (await driver.cards.list('acct_1'))[0]?.methodRef ?? '')],
      ['the deletion of a customer', () => driver.forget('cus_1')],
      ['a receipt', () => driver.receiptUrl('pi_1')],
      ['the list of payments', () => Array.fromAsync(driver.list(0))],
    ] as const)('%s', async (_, ask) => {
      statuses.length = 0;
      await ask();
      expect(statuses.length).toBeGreaterThan(0);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
    });

    test('a parameter that Stripe does not know would be noticed', async () => {
      const response = await fetch(`${mock.url}/v1/checkout/sessions`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk_test_123', 'content-type': 'application/x-www-form-urlencoded' },
        body: 'mode=payment&no_such_parameter=1',
      });
      expect(response.status).toBe(400);
    });
  });

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Stripe } from 'stripe';
import { Accounts } from '../../src/accounts/accounts.ts';
import { formatUsd } from '../../src/ledger/money.ts';
import { reconcilePayments } from '../../src/payments/reconcile.ts';
import { stripeWebhook } from '../../src/payments/webhook.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import type { StripeObject } from '../simulator/stripe-books.ts';
import { errorOf, jsonOf } from './answers.ts';
import { NO_PAYMENTS, openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;
const RULES = { ...NO_PAYMENTS.rules, minimum: usd('1') };

interface Listed {
  readonly payments: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

describeStores((makeStore) => {
  let stripe: StripeSimulator;
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let ada: TestBrowser;
  let webhook: (request: Request) => Promise<Response>;

  beforeAll(async () => {
    stripe = await startStripeSimulator();
    const settings = { secretKey: 'sk_test_simulated', webhookSecret: stripe.secret, apiUrl: stripe.url };
    dashboard = await openDashboard(await makeStore(), {
      settings: { payments: { rules: RULES, stripe: settings, bankTransfer: 'IBAN XX00' } },
    });
    const { kysely } = dashboard.dependencies.database;
    webhook = stripeWebhook({ database: kysely, stripe: new Stripe('sk_test_simulated'), secret: stripe.secret });
    operator = await enterAsOperator(dashboard);
    ada = await dashboard.signedUp('ada@example.com');
  }, TEST_MS);
  afterAll(async () => {
    await dashboard.end();
    await stripe.stop();
  });

  const list = async (query = ''): Promise<Listed> => (await jsonOf(await operator.get(`/api/admin/payments?${query}`))) as never;
  const read = async (path: string): Promise<Record<string, unknown>> => jsonOf(await operator.get(`/api/admin/payments${path}`));
  const post = (path: string, body: unknown = {}): Promise<Response> => operator.send('POST', `/api/admin/payments${path}`, body);
  const begin = async (provider: 'stripe' | 'manual', amountUsd: string): Promise<{ id: string; reference: string }> =>
    (await jsonOf(await ada.send('POST', '/api/billing/top-ups', { amountUsd, provider }))) as never;
  const balance = async (): Promise<string> =>
    formatUsd((await new Accounts(dashboard.dependencies.database.kysely).find('ada@example.com'))?.balance ?? usd('0'));
  /** Pays as the payer would. Returns the events that were not delivered yet. */
  const pay = (id: string, cents?: number): StripeObject[] => {
    const from = stripe.books.events.length;
    stripe.books.pay(stripe.books.sessionOf(id), cents === undefined ? {} : { cents });
    return stripe.books.events.slice(from);
  };
  const audited = async (action: string): Promise<unknown[]> =>
    (await jsonOf(await operator.get(`/api/admin/audit?action=${action}`)))['entries'] as unknown[];

  test('payments are listed newest first and filtered by state, account and reference', async () => {
    const card = await begin('stripe', '20');
    for (const event of pay(card.id)) await stripe.deliver(event, webhook);
    const transfer = await begin('manual', '30');
    const { payments } = await list();
    expect(payments.map(({ id }) => id)).toEqual([transfer.id, card.id]);
    expect(payments).toMatchObject([
      { email: 'ada@example.com', way: 'transfer', status: 'open', amountUsd: '30', reference: transfer.reference, hasReceipt: false },
      { way: 'card', status: 'paid', amountUsd: '20', reversedUsd: '0', hasReceipt: true },
    ]);
    const found = async (query: string): Promise<unknown[]> => (await list(query)).payments.map(({ id }) => id);
    expect(await found('status=paid')).toEqual([card.id]);
    expect(await found('provider=manual&status=open')).toEqual([transfer.id]);
    expect(await found('account=Ada%40example.com')).toEqual([transfer.id, card.id]);
    expect(await found('account=nobody')).toEqual([]);
    expect(await found(`reference=${transfer.reference.toLowerCase()}`)).toEqual([transfer.id]);
    expect(await found(`reference=${String(payments[1]?.['reference'])}`)).toEqual([card.id]);
    expect(await found(`reference=${card.id}`)).toEqual([card.id]);
    expect((await operator.get('/api/admin/payments?before=1')).status).toBe(400);
    expect(await read(`/${card.id}/receipt`)).toEqual({ url: expect.stringContaining('https://pay.example.com/') as string });
  });

  test('the pages have no gaps and no duplicates', async () => {
    const { kysely } = dashboard.dependencies.database;
    const [one] = await kysely.selectFrom('payments').selectAll().limit(1).execute();
    const rows = Array.from({ length: 120 }, (_, index) => ({
      ...one,
      id: `pay_a${String(index).padStart(3, '0')}`,
      status: 'expired' as const,
      provider_ref: null,
      session_ref: null,
      transfer_id: null,
      created_at: 1000n + BigInt(Math.floor(index / 40)),
    }));
    await kysely
      .insertInto('payments')
      .values(rows as never)
      .execute();
    const seen: unknown[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: Listed = await list(`status=expired${next === '' ? '' : `&before=${next}`}`);
      seen.push(...page.payments.map(({ id }) => id));
      next = page.next;
    }
    expect(seen).toEqual(rows.map(({ id }) => id).toReversed());
    await kysely.deleteFrom('payments').where('status', '=', 'expired').execute();
  });

  test('confirming a transfer requires its reference and exact amount, and credits it once', async () => {
    const { id, reference } = await begin('manual', '50');
    const before = await balance();
    expect(await errorOf(await post(`/${id}/confirm`, { reference: 'TG-AAAAA-AAAAA', amountUsd: '50' }))).toMatchObject({
      code: 'invalid',
      field: 'reference',
    });
    expect(await errorOf(await post(`/${id}/confirm`, { reference, amountUsd: '40' }))).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('4000 cents were paid instead of 5000') as string,
    });
    expect(await errorOf(await post(`/${id}/confirm`, { reference, amountUsd: '49.995' }))).toMatchObject({
      code: 'invalid',
      field: 'amountUsd',
      message: 'amountUsd: must be an amount in whole cents such as 25 or 12.50',
    });
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(`/${id}/confirm`, { reference, amountUsd: '50' })));
    const results = await Promise.all(answers.map(async (answer) => String((await jsonOf(answer))['result'])));
    expect(results.toSorted()).toEqual(['credited', 'repeated', 'repeated', 'repeated']);
    expect(Number(await balance()) - Number(before)).toBe(50);
    expect(await audited('payment.confirm')).toMatchObject([
      { actor: 'operator@example.com', subject: id, changes: [{ after: '50' }, { after: reference }] },
    ]);
    expect(await read(`/${id}`)).toMatchObject({
      status: 'paid',
      life: [
        { kind: 'begun' },
        { kind: 'paid' },
        { kind: 'operator', entry: { actor: 'operator@example.com', action: 'payment.confirm' } },
      ],
    });
  });

  test('a transfer that will not arrive is ended once', async () => {
    const { id } = await begin('manual', '60');
    expect((await post(`/${id}/refuse`, { reason: 'it never came' })).status).toBe(200);
    expect((await post(`/${id}/refuse`, { reason: 'again' })).status).toBe(409);
    expect(await read(`/${id}`)).toMatchObject({ status: 'failed', reason: 'it never came' });
    expect(await audited('payment.refuse')).toHaveLength(1);
  });

  test('a failed event shows its reason and tries, and is processed again once', async () => {
    const payment = await begin('stripe', '10');
    for (const paid of pay(payment.id)) await stripe.deliver(paid, webhook);
    const from = stripe.books.events.length;
    const intent = (await list(`reference=${payment.id}`)).payments[0]?.['reference'];
    stripe.books.refund(String(intent), 400);
    const event = stripe.books.events[from] ?? {};
    const refund = (event['data'] as { object: StripeObject }).object;
    // No database accepts this as an amount.
    refund['amount'] = 400.5;
    const failing = (): Promise<number> => stripe.deliver(event, webhook);
    await expect(failing()).rejects.toThrow();
    await expect(failing()).rejects.toThrow();
    const id = String(event['id']);
    const { events } = await read('/events?outcome=received');
    expect(events).toMatchObject([{ id, outcome: 'received', tries: 2, canReplay: true, type: 'refund.created' }]);
    expect((events as { detail: string }[])[0]?.detail).not.toBe('');
    expect((await read('/problems'))['problems']).toMatchObject([{ kind: 'failed_event' }]);

    refund['amount'] = 400;
    const answers = await Promise.all([post(`/events/${id}/replay`), post(`/events/${id}/replay`)]);
    const outcomes = await Promise.all(answers.map(async (answer) => String((await jsonOf(answer))['outcome'])));
    expect(outcomes.toSorted()).toEqual(['applied', 'repeated']);
    expect(await failing()).toBe(200);
    expect(await read(`/${payment.id}`)).toMatchObject({ reversedUsd: '4' });
    expect(await audited('event.replay')).toMatchObject([{ actor: 'operator@example.com', subject: id }]);
    expect((await read('/events?outcome=received'))['events']).toEqual([]);
    expect((await post('/events/evt_unknown/replay')).status).toBe(404);
    stripe.failWith(500, 1);
    expect((await post(`/events/${id}/replay`)).status).toBe(503);
  });

  test('a payment of the wrong amount stays a problem, however often it is processed', async () => {
    const payment = await begin('stripe', '11');
    const [event] = pay(payment.id, 1000);
    await stripe.deliver(event ?? {}, webhook);
    const problem = { kind: 'refused_event', paymentId: payment.id, explanation: expect.stringContaining('1000 cents') as string };
    expect((await read('/problems'))['problems']).toMatchObject([problem]);
    expect(await jsonOf(await post(`/events/${String(event?.['id'])}/replay`))).toMatchObject({ outcome: 'refused' });
    expect((await read(`/${payment.id}`))['life']).toMatchObject([
      { kind: 'begun' },
      { kind: 'event', event: { outcome: 'refused', tries: 2 } },
    ]);
    expect((await read('/events'))['events']).toHaveLength(6);
  });

  test('a comparison finds payments missing from the ledger, and asking Stripe credits them', async () => {
    const payment = await begin('stripe', '12');
    pay(payment.id);
    expect(await jsonOf(await post('/compare', { days: 30 }))).toMatchObject({
      isCutShort: false,
      differences: expect.arrayContaining([
        expect.objectContaining({ kind: 'charged_not_credited', paymentId: payment.id }),
        expect.objectContaining({ kind: 'amount_differs' }),
      ]) as unknown,
    });
    expect(await jsonOf(await post(`/${payment.id}/ask`))).toEqual({ status: 'paid' });
    const { differences } = (await jsonOf(await post('/compare', { days: 30 }))) as { differences: unknown[] };
    expect(differences).toHaveLength(1);
    expect(await audited('payments.compare')).toHaveLength(2);
    expect(await audited('payment.ask')).toMatchObject([{ changes: [{ field: 'status', before: 'open', after: 'paid' }] }]);
    expect((await post('/compare', { days: 400 })).status).toBe(400);
    stripe.failWith(500, 1);
    expect((await post('/compare', { days: 1 })).status).toBe(503);
  });

  test('asking about a charge that never reached Stripe does not create it', async () => {
    const { kysely } = dashboard.dependencies.database;
    const { customer_ref: customer, account_id: account } = await kysely
      .selectFrom('payment_customers')
      .selectAll()
      .executeTakeFirstOrThrow();
    const row = { id: 'pay_never_sent', account_id: account, provider: 'stripe', purpose: 'auto_top_up', status: 'failed' } as const;
    const money = { amount: usd('10'), charge_cents: 1000, method_ref: stripe.books.addCard(customer) };
    await kysely
      .insertInto('payments')
      .values({ ...row, ...money, created_at: Date.now(), asked_at: Date.now() })
      .execute();
    const charges = stripe.books.intents.size;
    expect(await jsonOf(await post('/pay_never_sent/ask'))).toEqual({ status: 'failed' });
    expect(stripe.books.intents.size).toBe(charges);
  });

  test('a comparison stops at its limit and reports that it did', async () => {
    const { database, money } = dashboard.dependencies;
    const driver = money.desk.driver('stripe');
    if (driver === undefined) throw new Error('Stripe is set up');
    const since = Date.now() - DAY_MS;
    const untilMs = Date.now() + DAY_MS;
    expect(await reconcilePayments(database.kysely, driver, since, { paymentsMax: 2, untilMs })).toMatchObject({
      compared: 2,
      isCutShort: true,
    });
    expect(await reconcilePayments(database.kysely, driver, since, { paymentsMax: 100, untilMs: 0 })).toMatchObject({
      compared: 0,
      differences: [],
      isCutShort: true,
    });
  });

  test('without Stripe, comparing and reprocessing are refused', async () => {
    const plain = await openDashboard(await makeStore());
    const browser = await enterAsOperator(plain);
    for (const path of ['/compare', '/events/evt_1/replay'])
      expect(await errorOf(await browser.send('POST', `/api/admin/payments${path}`, { days: 1 }))).toMatchObject({
        message: expect.stringContaining('STRIPE_SECRET_KEY') as string,
      });
    expect(await jsonOf(await browser.get('/api/admin/payments'))).toEqual({ payments: [], next: null });
    expect(await jsonOf(await browser.get('/api/admin/payments/events'))).toMatchObject({ events: [], hasStripe: false });
    await plain.end();
  });
});

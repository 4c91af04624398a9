import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { closeAccount } from '../../../src/dashboard/people/close.ts';
import { listProblems } from '../../../src/payments/problems.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { DAY_MS, MoneyStage, usd, type Customer } from './stage.ts';

const HOUR_MS = 3_600_000;

/** What happens to a customer's cards, plan and name at Stripe when they close their account. */
export function testClosedAccounts(driver: LedgerDriver): void {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(driver);
    // The last operator cannot leave.
    await stage.books.accounts.create('operator@example.com', true);
    await stage.makePlan('closed', { overflow: 'stop' });
  });
  afterEach(async () => {
    stage.kept.length = 0;
    await stage.books.expectSound();
  });
  afterAll(() => stage.close());

  const close = async ({ accountId }: Customer): Promise<void> => {
    expect(await closeAccount(stage.books.kysely, 'person_unknown', accountId)).toBe('closed');
  };
  const turn = async (): Promise<void> => {
    stage.nowMs = Math.max(stage.nowMs, Date.now());
    await stage.clock.turn(stage.nowMs);
  };
  const customerOf = async ({ accountId }: Customer): Promise<string | undefined> => {
    const rows = stage.books.kysely.selectFrom('payment_customers').select('customer_ref').where('account_id', '=', accountId);
    return (await rows.executeTakeFirst())?.customer_ref;
  };
  const isKnown = (customer: string | undefined): boolean => stage.stripe.books.customers.has(customer ?? '');

  test('closing an account deletes its customer and cards at Stripe, and nobody else’s', async () => {
    const [leaving, staying] = [await stage.makeCardHolder(), await stage.makeCardHolder()];
    const [gone, there] = [await customerOf(leaving), await customerOf(staying)];
    expect([isKnown(gone), isKnown(there)]).toEqual([true, true]);
    await close(leaving);
    await turn();
    expect([isKnown(gone), isKnown(there)]).toEqual([false, true]);
    expect(stage.stripe.books.cards.has(leaving.card)).toBe(false);
    expect(await customerOf(leaving)).toBeUndefined();
    expect(await stage.cardsOf(staying)).toEqual([staying.card]);
    expect(stage.kept).toEqual([]);
  });

  test('a customer Stripe does not delete is reported to the operator and tried again an hour later', async () => {
    const leaving = await stage.makeCardHolder();
    const customer = await customerOf(leaving);
    await close(leaving);
    stage.stripe.failWith(500, 1);
    await turn();
    expect(stage.kept).toEqual([customer ?? '']);
    stage.nowMs += HOUR_MS / 2;
    await turn();
    expect(isKnown(customer)).toBe(true);
    stage.nowMs += HOUR_MS / 2;
    await turn();
    expect(isKnown(customer)).toBe(false);
    expect(stage.kept).toHaveLength(1);
  });

  test('a deletion whose answer was lost is recognised as done', async () => {
    const leaving = await stage.makeCardHolder();
    await close(leaving);
    stage.stripe.loseAnswers(1);
    await turn();
    expect(stage.kept).toHaveLength(1);
    stage.nowMs += HOUR_MS;
    await turn();
    expect(await customerOf(leaving)).toBeUndefined();
    expect(stage.kept).toHaveLength(1);
  });

  test('a pending payment keeps its customer until it has ended', async () => {
    const leaving = await stage.makeCardHolder();
    const customer = await customerOf(leaving);
    const payment = await stage.begin(leaving);
    await close(leaving);
    await turn();
    expect(isKnown(customer)).toBe(true);
    stage.stripe.books.expire(stage.stripe.books.sessionOf(payment.id));
    stage.nowMs += DAY_MS;
    await turn();
    await turn();
    expect(isKnown(customer)).toBe(false);
  });

  test('a payment after the account was closed buys nothing, and the operator is asked to return it', async () => {
    const leaving = await stage.makeCustomer();
    const planOrder = { type: 'subscribe', planId: 'closed' } as const;
    const payments = [await stage.begin(leaving), await stage.begin(leaving, '20', { planOrder })];
    await close(leaving);
    for (const { id } of payments) await stage.pay(id);
    expect(await stage.left(leaving)).toEqual({ paid: usd('40') });
    expect(await stage.subscriptions.find(leaving.accountId)).toBeUndefined();
    const problems = await listProblems(stage.books.kysely, stage.nowMs, 10);
    for (const { id, provider_ref: ref } of await Promise.all(payments.map((payment) => stage.desk.require(payment.id)))) {
      expect(problems.find(({ paymentId }) => paymentId === id)?.explanation).toBe('the account was closed before it was paid: refund it');
      const from = stage.stripe.books.events.length;
      stage.stripe.books.refund(ref ?? '', 2000);
      await stage.deliverNew(from);
    }
    expect(await stage.balance(leaving)).toBe(0n);
    const left = await listProblems(stage.books.kysely, stage.nowMs, 10);
    expect(left.filter(({ paymentId }) => payments.some(({ id }) => id === paymentId))).toEqual([]);
    await turn();
  });

  test('several processes request the deletion only once', async () => {
    const leaving = await stage.makeCardHolder();
    await close(leaving);
    const before = stage.stripe.requests.filter((request) => request.startsWith('DELETE')).length;
    stage.nowMs = Math.max(stage.nowMs, Date.now());
    await Promise.all(Array.from({ length: 8 }, () => stage.clock.turn(stage.nowMs)));
    expect(stage.stripe.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(before + 1);
  });

  test('a plan ends with its account, and so do its rules about credit', async () => {
    const leaving = await stage.makeCardHolder('30');
    await stage.subscriptions.order({ type: 'subscribe', planId: 'closed' }, { ...leaving, nowMs: stage.nowMs, paysBy: 'balance' });
    await close(leaving);
    expect(await stage.subscriptions.find(leaving.accountId)).toBeUndefined();
  });
}

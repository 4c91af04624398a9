import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { readGrants } from '../../../src/ledger/credit.ts';
import type { PaymentRow } from '../../../src/payments/payments.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { PlanStage } from './plan-stage.ts';
import { DAY_MS, usd, type Customer, type MoneyStage } from './stage.ts';

/** What an account gets back when a dispute is won. */
export function testLiftedDisputes(driver: LedgerDriver): void {
  let plans: PlanStage;
  let stage: MoneyStage;
  beforeAll(async () => {
    plans = await PlanStage.open(driver);
    stage = plans.money;
  });
  afterEach(() => stage.books.expectSound());
  afterAll(() => stage.close());

  async function endsOf({ accountId }: Customer) {
    const grants = await readGrants(stage.books.kysely, accountId);
    return grants.map(({ kind, remaining, expires_at: end }) => {
      return [kind, remaining, end === null ? 'never' : Math.round((Number(end) - stage.nowMs) / DAY_MS)];
    });
  }

  async function topUpWithBonus() {
    const customer = await stage.makeCustomer();
    await stage.redeem(customer, await stage.makeCode({ kind: 'bonus', percent: 50, amount: usd('8'), creditDays: 30 }));
    return { customer, payment: await stage.topUp(customer, '20') };
  }

  /** Opens a dispute and returns what wins it. */
  async function dispute({ provider_ref: ref }: PaymentRow): Promise<() => Promise<void>> {
    const { books } = stage.stripe;
    const opened = books.dispute(ref ?? '');
    await stage.deliverNew(books.events.length - 1);
    return async () => {
      const from = books.events.length;
      books.closeDispute(opened, 'won');
      await stage.deliverNew(from);
    };
  }

  test('a bonus comes back with its end, and what expires then is not taken again', async () => {
    const { customer, payment } = await topUpWithBonus();
    const win = await dispute(payment);
    expect(await stage.balance(customer)).toBe(0n);
    await win();
    expect(await endsOf(customer)).toEqual([
      ['promo', usd('8'), 30],
      ['paid', usd('20'), 'never'],
    ]);
    await stage.expireWithin(31);
    expect(await stage.balance(customer)).toBe(usd('20'));
    await dispute(payment);
    expect(await stage.balance(customer)).toBe(0n);
  });

  test('other credit that was taken comes back as what it was, after the debt is paid', async () => {
    const { customer, payment } = await topUpWithBonus();
    await stage.spend(customer, '23');
    await stage.books.credit(customer, usd('6'), { kind: 'promo', expiresAtMs: stage.nowMs + 3 * DAY_MS });
    const before = await endsOf(customer);
    expect(before).toEqual([
      ['promo', usd('6'), 3],
      ['paid', usd('5'), 'never'],
    ]);
    const win = await dispute(payment);
    expect(await stage.balance(customer)).toBe(usd('-17'));
    await win();
    expect(await endsOf(customer)).toEqual(before);
    expect(await stage.books.kysely.selectFrom('taken_credit').selectAll().execute()).toEqual([]);
  });

  test('plan credit that was taken comes back as plan credit, in the order that the plan says', async () => {
    const customer = await stage.makeCustomer(usd('20'));
    await stage.makePlan('patient', { useFirst: 'balance' });
    await plans.subscribe(customer, 'patient');
    const payment = await stage.topUp(customer, '20');
    await stage.spend(customer, '15');
    const before = await endsOf(customer);
    expect(before.map(([kind, left]) => [kind, left])).toEqual([
      ['paid', usd('5')],
      ['plan', usd('25')],
    ]);
    const win = await dispute(payment);
    expect(await stage.left(customer)).toEqual({ plan: usd('10') });
    await win();
    expect((await endsOf(customer)).reduce((sum, [kind, left]) => sum + (kind === 'plan' ? BigInt(left ?? 0) : 0n), 0n)).toBe(usd('25'));
    expect((await endsOf(customer))[0]).toEqual(before[0] ?? []);
  });
}

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { GroupCommitLedger } from '../../../src/ledger/group-commit.ts';
import type { LedgerStore, OperationResult } from '../../../src/ledger/ledger.ts';
import { asNanos } from '../../../src/ledger/money.ts';
import { extendOf, holdOf, settleOf } from '../../ledger/operations.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { MARCH_31, PlanStage } from './plan-stage.ts';
import { DAY_MS, usd, type Customer, type MoneyStage } from './stage.ts';

const CALLERS = 64;

/** How plan credit is used: before other credit, after it, or alone. */
export function testPlanUse(driver: LedgerDriver): void {
  let plans: PlanStage;
  let stage: MoneyStage;
  let store: LedgerStore;
  let lastId = 0;
  beforeAll(async () => {
    plans = await PlanStage.open(driver);
    stage = plans.money;
    store = await stage.books.openStore('node_use');
    await stage.makePlan('patient', { price: usd('10'), included: usd('12'), useFirst: 'balance' });
    await stage.makePlan('closed', { price: usd('10'), included: usd('12'), overflow: 'stop' });
    await stage.makePlan('wide', { price: usd('30'), included: usd('36'), overflow: 'stop' });
  });
  beforeEach(() => {
    stage.nowMs = MARCH_31;
  });
  afterEach(() => stage.books.expectSound());
  afterAll(() => stage.close());

  const nextId = (): string => `req_use_${(lastId += 1)}`;
  const hold = async (customer: Customer, amount: string, id = nextId()): Promise<OperationResult | undefined> =>
    (await store.apply([holdOf(customer, id, { amount: usd(amount) })]))[0];
  /** Creates a customer with five dollars in addition to the plan. */
  const makeSubscriber = async (planId: string): Promise<Customer> => {
    const customer = await plans.makeRich('15');
    expect(await plans.subscribe(customer, planId)).toMatchObject({ type: 'done' });
    return customer;
  };

  describe('the order of use', () => {
    test('is plan first, unless the plan says otherwise', async () => {
      const [usual, patient] = [await makeSubscriber('basic'), await makeSubscriber('patient')];
      for (const customer of [usual, patient]) await stage.spend(customer, '2');
      expect(await stage.left(usual)).toEqual({ plan: usd('10'), manual: usd('5') });
      expect(await stage.left(patient)).toEqual({ plan: usd('12'), manual: usd('3') });
      await stage.spend(patient, '4');
      expect(await stage.left(patient)).toEqual({ plan: usd('11') });
    });

    test('is the subscriber’s choice, also for existing credit, and across renewals', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      expect(await plans.planOf(customer)).toMatchObject({ useFirst: 'plan' });
      expect(await stage.subscriptions.setUse(customer.accountId, 'balance')).toBe(true);
      expect(await plans.planOf(customer)).toMatchObject({ useFirst: 'balance' });
      await stage.spend(customer, '20');
      expect(await stage.left(customer)).toEqual({ plan: usd('12'), manual: usd('70') });
      await plans.moveTo(2027, 4, 30);
      await stage.spend(customer, '10');
      expect(await stage.left(customer)).toEqual({ plan: usd('24'), manual: usd('50') });
      await stage.subscriptions.setUse(customer.accountId, 'plan');
      await stage.spend(customer, '10');
      expect(await stage.left(customer)).toEqual({ plan: usd('14'), manual: usd('50') });
      expect(await stage.subscriptions.setUse((await stage.makeCustomer()).accountId, 'plan')).toBe(false);
    });

    test('of a plan changed by the operator applies at once, and ends with the plan', async () => {
      await stage.makePlan('changing', { price: usd('10'), included: usd('12') });
      const customer = await makeSubscriber('changing');
      await stage.makePlan('changing', { price: usd('10'), included: usd('12'), useFirst: 'balance' });
      await stage.spend(customer, '1');
      expect(await stage.left(customer)).toEqual({ plan: usd('12'), manual: usd('4') });
      await stage.subscriptions.end(customer.accountId, 'test');
      await stage.spend(customer, '1');
      expect(await stage.left(customer)).toEqual({ plan: usd('11'), manual: usd('4') });
    });

    test('that a crash kept from being applied is applied at the next start', async () => {
      const customer = await makeSubscriber('basic');
      await stage.books.kysely
        .updateTable('subscriptions')
        .set({ use_first: 'balance' })
        .where('account_id', '=', customer.accountId)
        .execute();
      await stage.plans.saveSettings([]);
      await stage.spend(customer, '1');
      expect(await stage.left(customer)).toEqual({ plan: usd('12'), manual: usd('4') });
    });
  });

  describe('a plan limited to its own credit', () => {
    test('refuses what its credit does not cover, whatever the balance, and says until when', async () => {
      const customer = await makeSubscriber('closed');
      expect(await hold(customer, '12.01')).toEqual({
        type: 'plan_exhausted',
        available: usd('12'),
        resetsAtMs: Date.UTC(2027, 3, 30, 12),
      });
      const id = nextId();
      expect(await hold(customer, '8', id)).toMatchObject({ type: 'held' });
      expect(await hold(customer, '5')).toMatchObject({ type: 'plan_exhausted', available: usd('4') });
      expect(await store.apply([extendOf(customer, id, usd('13'))])).toEqual([{ type: 'refused' }]);
      expect(await store.apply([extendOf(customer, id, usd('12'))])).toEqual([{ type: 'extended' }]);
      await store.apply([settleOf(customer, id, { cost: usd('12') })]);
      expect(await stage.left(customer)).toEqual({ manual: usd('5') });
      expect(await hold(customer, '0.000000001')).toMatchObject({ type: 'plan_exhausted', available: 0n });
    });

    test('admits free requests, and lowers a hold to what is left', async () => {
      const customer = await makeSubscriber('closed');
      const lowered = holdOf(customer, nextId(), { amount: usd('100'), minimum: usd('1') });
      expect(await store.apply([lowered])).toEqual([{ type: 'held', amount: usd('12') }]);
      expect(await hold(customer, '0')).toEqual({ type: 'held', amount: asNanos(0n) });
    });

    test('uses its own credit before a gift that expires sooner, and leaves the gift alone', async () => {
      const customer = await makeSubscriber('closed');
      await stage.books.credit(customer, usd('3'), { expiresAtMs: stage.nowMs + DAY_MS });
      await stage.spend(customer, '12');
      expect(await stage.left(customer)).toEqual({ manual: usd('8') });
      expect(await hold(customer, '1')).toMatchObject({ type: 'plan_exhausted' });
    });

    test('continues with a larger plan, with the next period, and with the balance after it ends', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'closed');
      await stage.spend(customer, '12');
      await plans.order(customer, { type: 'upgrade', planId: 'wide', atMs: stage.nowMs });
      expect(await stage.left(customer)).toEqual({ manual: usd('70'), plan: usd('24') });
      expect(await hold(customer, '24.01')).toMatchObject({ type: 'plan_exhausted', available: usd('24') });
      await stage.spend(customer, '24');
      expect(await hold(customer, '1')).toMatchObject({ type: 'plan_exhausted' });
      await plans.moveTo(2027, 4, 30);
      expect(await hold(customer, '36.01')).toMatchObject({
        type: 'plan_exhausted',
        available: usd('36'),
        resetsAtMs: Date.UTC(2027, 4, 31, 12),
      });
      await stage.subscriptions.cancel(customer.accountId, stage.nowMs);
      await plans.moveTo(2027, 5, 31);
      expect(await plans.planOf(customer)).toBeUndefined();
      expect(await hold(customer, '40')).toMatchObject({ type: 'held' });
    });

    test('that the operator opens up can use the balance at once', async () => {
      await stage.makePlan('opening', { price: usd('10'), included: usd('12'), overflow: 'stop' });
      const customer = await makeSubscriber('opening');
      expect(await hold(customer, '13')).toMatchObject({ type: 'plan_exhausted' });
      await stage.makePlan('opening', { price: usd('10'), included: usd('12'), overflow: 'balance' });
      expect(await hold(customer, '13')).toMatchObject({ type: 'held' });
    });

    test('keeps expiring credit that its running requests hold, even if the balance could pay', async () => {
      const customer = await makeSubscriber('closed');
      await stage.subscriptions.cancel(customer.accountId, stage.nowMs);
      const id = nextId();
      await hold(customer, '7', id);
      await store.apply([{ type: 'expire', nowMs: Date.UTC(2027, 4, 2) }]);
      expect(await stage.left(customer)).toEqual({ plan: usd('7'), manual: usd('5') });
      await store.apply([settleOf(customer, id, { cost: usd('6') }), { type: 'expire', nowMs: Date.UTC(2027, 4, 2) }]);
      expect(await stage.left(customer)).toEqual({ manual: usd('5') });
    });

    test(`never gives ${CALLERS} callers at once more than its credit`, async () => {
      const customer = await makeSubscriber('closed');
      // With a shared database, each node gets half of the callers.
      const ledgers = [new GroupCommitLedger(store)];
      if (driver.dialect === 'postgres') ledgers.push(new GroupCommitLedger(await stage.books.openStore('node_other')));
      let spent = 0n;
      let refusals = 0;
      const call = async (caller: number): Promise<void> => {
        const ledger = ledgers[caller % ledgers.length] ?? new GroupCommitLedger(store);
        for (let turn = 0; turn < 20; turn += 1) {
          const id = nextId();
          const amount = usd(`0.${String(1 + ((caller + turn) % 9))}`);
          const held = await ledger.hold(holdOf(customer, id, { amount }).hold);
          if (held.type === 'held') {
            const cost = asNanos(amount / (turn % 3 === 0 ? 2n : 1n));
            await ledger.settle(settleOf(customer, id, { cost }).settlement);
            spent += cost;
          } else {
            expect(held.type).toBe('plan_exhausted');
            refusals += 1;
          }
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
      expect(refusals).toBeGreaterThan(0);
      expect(spent).toBeLessThanOrEqual(usd('12'));
      // What is left does not cover the largest request, so refusals came late, not early.
      expect(usd('12') - spent).toBeLessThan(usd('0.9'));
      expect((await stage.left(customer))['manual']).toBe(usd('5'));
    });
  });
}

import { expect, test } from 'bun:test';
import { holdOf, settleOf } from '../../ledger/operations.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { onPlanStage, type PlanStage } from './plan-stage.ts';
import { usd, type Customer, type MoneyStage } from './stage.ts';

/** Plans paid by card, and what can happen between the charge and the period it is for. */
export function testRenewalsByCard(driver: LedgerDriver): void {
  let plans: PlanStage;
  let stage: MoneyStage;
  onPlanStage(driver, (opened) => {
    plans = opened;
    stage = opened.money;
  });

  const chargesOf = async ({ accountId }: Customer): Promise<bigint[]> => {
    const rows = await stage.books.kysely
      .selectFrom('payments')
      .select('charge_cents')
      .where('account_id', '=', accountId)
      .where('purpose', '=', 'plan')
      .orderBy('created_at')
      .execute();
    return rows.map((row) => row.charge_cents);
  };
  /** Advances this many minutes in steps of five seconds, as the clock does. */
  const advance = async (minutes: number): Promise<void> => {
    for (let step = 0; step < minutes * 12; step += 1) {
      await stage.clock.turn(stage.nowMs);
      stage.nowMs += 5000;
    }
  };
  const makeSubscriber = async (planId = 'basic'): Promise<Customer> => {
    const holder = await stage.makeCardHolder('10');
    await stage.subscriptions.order(
      { type: 'subscribe', planId },
      { accountId: holder.accountId, nowMs: stage.nowMs, paysBy: 'card', methodRef: holder.card },
    );
    return holder;
  };

  test('charges the card once, whatever running requests hold', async () => {
    const holder = await makeSubscriber();
    const store = await stage.books.openStore('node_holding');
    const id = `req_${crypto.randomUUID()}`;
    await store.apply([holdOf(holder, id, { amount: usd('12') })]);
    // Another request has cost more than it held.
    await stage.spend(holder, '5');
    await plans.moveTo(2027, 4, 30);
    await advance(3);
    expect(await chargesOf(holder)).toEqual([1000n]);
    expect(await plans.planOf(holder)).toMatchObject({ status: 'active', periodStartMs: Date.UTC(2027, 3, 30, 12) });
    await store.apply([settleOf(holder, id, { cost: 0n })]);
  });

  test('counts a declined card once, however many nodes see it', async () => {
    const holder = await makeSubscriber();
    stage.stripe.books.declined.set((await stage.cardsOf(holder))[0] ?? '', 'expired_card');
    stage.nowMs = Date.UTC(2027, 3, 30, 12);
    const seen = await plans.planOf(holder);
    await stage.clock.turn(stage.nowMs);
    if (seen === undefined) throw new Error('no plan');
    // Another node had read the plan before.
    const late = { reason: 'late', graceUntilMs: stage.nowMs, retryAtMs: stage.nowMs, isSameTry: false };
    await stage.subscriptions.markPastDue(seen, late);
    stage.stripe.books.declined.clear();
    expect(await plans.planOf(holder)).toMatchObject({ tries: 1, reason: 'the card was not charged: expired card' });
  });

  test('gives the account a day to add what a debt took, then charges only the rest', async () => {
    const holder = await makeSubscriber();
    stage.stripe.loseAnswers(1);
    await plans.moveTo(2027, 4, 30);
    // The plan's credit, plus four dollars that the account does not have.
    await stage.spend(holder, '16');
    await advance(60);
    expect(await chargesOf(holder)).toEqual([1000n]);
    expect(await plans.planOf(holder)).toMatchObject({ status: 'past_due', tries: 0 });
    await plans.moveTo(2027, 5, 1);
    await advance(3);
    expect(await chargesOf(holder)).toEqual([1000n, 400n]);
    expect(await plans.planOf(holder)).toMatchObject({ status: 'active' });
  });

  test('starts the period as soon as the account has added what a debt took', async () => {
    const holder = await makeSubscriber();
    stage.stripe.loseAnswers(1);
    await plans.moveTo(2027, 4, 30);
    await stage.spend(holder, '16');
    await advance(3);
    await stage.books.credit(holder, usd('4'));
    await advance(2);
    expect(await chargesOf(holder)).toEqual([1000n]);
    expect(await plans.planOf(holder)).toMatchObject({ status: 'active' });
  });

  test('charges nothing for a plan that is no longer offered', async () => {
    await stage.makePlan('fading', { price: usd('10') });
    const holder = await makeSubscriber('fading');
    await stage.plans.end('fading', 'command');
    await plans.moveTo(2027, 4, 30);
    expect(await chargesOf(holder)).toEqual([]);
    expect(await plans.planOf(holder)).toBeUndefined();
  });
}

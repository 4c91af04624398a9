import { describe, expect, test } from 'bun:test';
import { PaymentDesk } from '../../../src/payments/desk.ts';
import { Renewals } from '../../../src/payments/renewals.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { dateOf, onPlanStage, type PlanStage } from './plan-stage.ts';
import { holdOf, settleOf } from '../../ledger/operations.ts';
import { DAY_MS, usd, type MoneyStage } from './stage.ts';

/** Plans over time: renewed, unpaid and changed, with the clock moved. */
export function testRenewals(driver: LedgerDriver): void {
  let plans: PlanStage;
  let stage: MoneyStage;
  onPlanStage(driver, (opened) => {
    plans = opened;
    stage = opened.money;
  });

  describe('a renewal', () => {
    test('keeps the day of the month, gives one grant per period and takes the old one back', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      const ends: string[] = [];
      for (const [month, day] of [
        [4, 30],
        [5, 31],
        [6, 30],
      ] as const) {
        await plans.moveTo(2027, month, day);
        await stage.clock.turn(stage.nowMs);
        ends.push(dateOf((await plans.planOf(customer))?.periodEndMs));
      }
      expect(ends).toEqual(['2027-05-31', '2027-06-30', '2027-07-31']);
      const periods = await stage.books.kysely
        .selectFrom('plan_periods')
        .innerJoin('subscriptions', 'subscriptions.id', 'plan_periods.subscription_id')
        .select('plan_periods.price')
        .where('account_id', '=', customer.accountId)
        .execute();
      expect(periods).toHaveLength(4);
      const store = await stage.books.openStore('node_expire');
      await store.apply([{ type: 'expire', nowMs: stage.nowMs + 2 * DAY_MS }]);
      expect(await stage.left(customer)).toEqual({ manual: usd('60'), plan: usd('12') });
    });

    test('takes back the last period’s credit as far as no running request may need it', async () => {
      const customer = await plans.makeRich('10');
      await plans.subscribe(customer, 'basic');
      await stage.subscriptions.cancel(customer.accountId, stage.nowMs);
      const store = await stage.books.openStore('node_late');
      const id = `req_${crypto.randomUUID()}`;
      await store.apply([holdOf(customer, id, { amount: usd('5') })]);
      await plans.moveTo(2027, 5, 2);
      await store.apply([{ type: 'expire', nowMs: stage.nowMs }]);
      expect(await stage.left(customer)).toEqual({ plan: usd('5') });
      await store.apply([settleOf(customer, id, { cost: usd('2') }), { type: 'expire', nowMs: stage.nowMs }]);
      expect(await stage.left(customer)).toEqual({});
    });

    test('happens once, even if every node checks', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      stage.nowMs = Date.UTC(2027, 4, 1);
      await Promise.all(Array.from({ length: 8 }, () => stage.clock.turn(stage.nowMs)));
      expect(await stage.left(customer)).toEqual({ manual: usd('80'), plan: usd('24') });
    });

    test('is charged once for a time in which the service was down', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      await plans.moveTo(2027, 9, 15);
      await stage.clock.turn(stage.nowMs);
      expect((await stage.left(customer))['manual']).toBe(usd('80'));
      expect(dateOf((await plans.planOf(customer))?.periodEndMs)).toBe('2027-10-15');
    });

    test('by card charges it, and a declined card is tried again until the grace period ends', async () => {
      const holder = await stage.makeCardHolder('10');
      await plans.subscribe(holder, 'basic');
      await stage.subscriptions.setPayment(holder.accountId, 'card', holder.card);
      await plans.moveTo(2027, 4, 30);
      expect(await stage.left(holder)).toEqual({ plan: usd('24') });
      stage.stripe.books.declined.set(holder.card, 'expired_card');
      await plans.moveTo(2027, 5, 31);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'past_due', reason: 'the card was not charged: expired card' });
      await plans.moveTo(2027, 6, 1);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'past_due', tries: 2 });
      stage.nowMs += 3_600_000;
      await stage.clock.turn(stage.nowMs);
      expect(await plans.planOf(holder)).toMatchObject({ tries: 2 });
      stage.stripe.books.declined.clear();
      await plans.moveTo(2027, 6, 2);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active', reason: '' });
      expect(dateOf((await plans.planOf(holder))?.periodEndMs)).toBe('2027-06-30');
    });

    test('waits for a suspended account, and charges nothing for time without service', async () => {
      const holder = await stage.makeCardHolder('10');
      await plans.subscribe(holder, 'basic');
      await stage.subscriptions.setPayment(holder.accountId, 'card', holder.card);
      const account = await stage.books.accounts.find(holder.email);
      if (account === undefined) throw new Error('no account');
      await stage.books.accounts.setStatus(account, 'suspended');
      const charges = stage.books.kysely
        .selectFrom('payments')
        .select('id')
        .where('account_id', '=', holder.accountId)
        .where('purpose', '=', 'plan');
      await plans.moveTo(2027, 5, 31);
      expect(await charges.execute()).toHaveLength(0);
      await stage.books.accounts.setStatus(account, 'active');
      await plans.moveTo(2027, 8, 1);
      expect(await charges.execute()).toHaveLength(1);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active', periodStartMs: Date.UTC(2027, 7, 1, 12) });
    });

    test('gets the full grace period from its first attempt, even if the account was suspended past it', async () => {
      const customer = await plans.makeRich('10');
      await plans.subscribe(customer, 'basic');
      const account = await stage.books.accounts.find(customer.email);
      if (account === undefined) throw new Error('no account');
      await stage.books.accounts.setStatus(account, 'suspended');
      await plans.moveTo(2027, 5, 6);
      await stage.books.accounts.setStatus(account, 'active');
      await plans.moveTo(2027, 5, 7);
      await plans.moveTo(2027, 5, 9);
      expect(await plans.planOf(customer)).toMatchObject({ status: 'past_due' });
      await plans.moveTo(2027, 5, 10);
      expect(await plans.planOf(customer)).toBeUndefined();
    });

    test('by a declined card is paid from the balance if that is enough', async () => {
      const holder = await stage.makeCardHolder('30');
      await plans.subscribe(holder, 'basic');
      await stage.subscriptions.setPayment(holder.accountId, 'card', holder.card);
      stage.stripe.books.declined.set(holder.card, 'expired_card');
      await plans.moveTo(2027, 4, 30);
      await plans.moveTo(2027, 5, 1);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active' });
      expect((await stage.left(holder))['paid']).toBe(usd('10'));
    });

    test('that is never paid ends the plan after the grace period, and no sooner', async () => {
      const customer = await plans.makeRich('10');
      await plans.subscribe(customer, 'basic');
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(customer)).toMatchObject({ status: 'past_due', reason: 'the balance is too small' });
      await plans.moveTo(2027, 5, 2);
      expect(await plans.planOf(customer)).toMatchObject({ status: 'past_due' });
      await plans.moveTo(2027, 5, 3);
      expect(await plans.planOf(customer)).toBeUndefined();
    });

    test('that is paid within the grace period continues without a gap', async () => {
      const customer = await plans.makeRich('10');
      await plans.subscribe(customer, 'basic');
      await plans.moveTo(2027, 4, 30);
      await stage.books.credit(customer, usd('10'));
      await plans.moveTo(2027, 5, 1);
      expect(await plans.planOf(customer)).toMatchObject({ status: 'active', periodStartMs: Date.UTC(2027, 3, 30, 12) });
    });

    test('by card when cards can no longer be charged is unpaid, and ends the plan after the grace period', async () => {
      const holder = await stage.makeCardHolder('10');
      await plans.subscribe(holder, 'basic');
      await stage.subscriptions.setPayment(holder.accountId, 'card', holder.card);
      const { kysely } = stage.books;
      const renewals = new Renewals(kysely, new PaymentDesk(kysely, [], stage.desk.rules));
      await renewals.turn('card', Date.UTC(2027, 3, 30, 12));
      expect(await plans.planOf(holder)).toMatchObject({ status: 'past_due', reason: 'cards cannot be charged here any more' });
      await renewals.turn('card', Date.UTC(2027, 4, 3, 12));
      expect(await plans.planOf(holder)).toBeUndefined();
    });

    test('by any saved card waits if Stripe does not answer, and says so', async () => {
      const holder = await stage.makeCardHolder('10');
      await plans.subscribe(holder, 'basic');
      await stage.subscriptions.setPayment(holder.accountId, 'card', undefined);
      stage.stripe.failWith(500, 100);
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'past_due', reason: 'Stripe did not answer' });
      stage.stripe.failWith(500, 0);
      await plans.moveTo(2027, 5, 1);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active' });
    });

    test('by card whose answer was lost is neither charged twice nor forgotten', async () => {
      const holder = await stage.makeCardHolder('20');
      await plans.subscribe(holder, 'basic');
      await stage.subscriptions.setPayment(holder.accountId, 'card', holder.card);
      const intents = stage.stripe.books.intents.size;
      stage.stripe.loseAnswers(1);
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active', periodEndMs: Date.UTC(2027, 3, 30, 12) });
      stage.nowMs += 60_000;
      await stage.clock.turn(stage.nowMs);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active', periodStartMs: Date.UTC(2027, 3, 30, 12) });
      expect(stage.stripe.books.intents.size).toBe(intents + 1);
    });
  });

  describe('a plan change', () => {
    test('to a more expensive plan costs the difference for the remaining time, shown in advance and in whole cents', async () => {
      const customer = await plans.makeRich('100');
      stage.nowMs = Date.UTC(2027, 3, 1);
      await plans.subscribe(customer, 'basic');
      stage.nowMs = Date.UTC(2027, 3, 11);
      const quote = await stage.subscriptions.quote(customer.accountId, 'pro', stage.nowMs);
      // In whole cents, whatever pays: 20 of 30 days are left, of a difference of 20 in price and of 24 in credit.
      expect(quote).toEqual({
        type: 'upgrade',
        price: usd('30'),
        due: usd('13.34'),
        credit: usd('16'),
        atMs: stage.nowMs,
        endsAtMs: Date.UTC(2027, 4, 1),
      } as never);
      expect(await plans.order(customer, { type: 'upgrade', planId: 'pro', atMs: stage.nowMs })).toMatchObject({
        type: 'done',
        paid: usd('13.34'),
      });
      expect(await stage.left(customer)).toEqual({ manual: usd('90') - usd('13.34'), plan: usd('28') });
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'pro' } });
      expect(await plans.order(customer, { type: 'upgrade', planId: 'pro', atMs: stage.nowMs })).toEqual({
        type: 'refused',
        why: 'not_an_upgrade',
      });
    });

    test('keeps the price that was shown for a quarter of an hour, and no longer', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      const atMs = stage.nowMs;
      stage.nowMs += 16 * 60_000;
      expect(await plans.order(customer, { type: 'upgrade', planId: 'pro', atMs })).toEqual({ type: 'refused', why: 'quote_expired' });
      expect(await plans.order(customer, { type: 'upgrade', planId: 'pro', atMs: stage.nowMs + 1 })).toEqual({
        type: 'refused',
        why: 'quote_expired',
      });
      stage.nowMs -= 2 * 60_000;
      expect(await plans.order(customer, { type: 'upgrade', planId: 'pro', atMs })).toMatchObject({ type: 'done' });
    });

    test('to a cheaper plan, or to a yearly one, waits for the end of the period, and can be undone', async () => {
      const customer = await plans.makeRich('200');
      await plans.subscribe(customer, 'pro');
      expect(await stage.subscriptions.quote(customer.accountId, 'basic', stage.nowMs)).toMatchObject({ type: 'at_period_end', due: 0n });
      await stage.subscriptions.changeAtPeriodEnd(customer.accountId, 'basic');
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'pro' }, nextPlan: { id: 'basic' } });
      await stage.subscriptions.changeAtPeriodEnd(customer.accountId, 'pro');
      expect((await plans.planOf(customer))?.nextPlan).toBeUndefined();
      await stage.subscriptions.changeAtPeriodEnd(customer.accountId, 'yearly');
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'yearly' }, periodEndMs: Date.UTC(2028, 3, 30, 12) });
    });

    test('by card is charged as shown, even if the payer took an hour', async () => {
      const customer = await plans.makeRich('10');
      await plans.subscribe(customer, 'basic');
      const quote = await stage.subscriptions.quote(customer.accountId, 'pro', stage.nowMs);
      if (quote.type !== 'upgrade') throw new Error('no upgrade');
      const payment = await stage.begin(customer, '20', { planOrder: { type: 'upgrade', planId: 'pro', atMs: quote.atMs } });
      expect(payment.amount).toBe(quote.due);
      stage.nowMs += 3_600_000;
      const from = stage.stripe.books.events.length;
      stage.stripe.books.pay(stage.stripe.books.sessionOf(payment.id));
      await stage.deliverNew(from);
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'pro' }, paysBy: 'card' });
    });
  });
}

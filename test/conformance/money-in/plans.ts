import { describe, expect, test } from 'bun:test';
import { changesSince } from '../../../src/accounts/changes.ts';
import { hashSecret } from '../../../src/accounts/key-secret.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { dateOf, onPlanStage, type PlanStage } from './plan-stage.ts';
import { planOf, usd, type MoneyStage } from './stage.ts';

/** Plans: bought, granted, cancelled, and what they allow. */
export function testPlans(driver: LedgerDriver): void {
  let plans: PlanStage;
  let stage: MoneyStage;
  onPlanStage(driver, (opened) => {
    plans = opened;
    stage = opened.money;
  });

  describe('a subscription', () => {
    test('is paid from the balance, and grants its credit until a day after its period', async () => {
      const customer = await plans.makeRich('15');
      expect(await plans.subscribe(customer, 'basic')).toEqual({ type: 'done', paid: usd('10') });
      expect(await stage.left(customer)).toEqual({ manual: usd('5'), plan: usd('12') });
      const grant = await stage.books.kysely
        .selectFrom('grants')
        .selectAll()
        .where('account_id', '=', customer.accountId)
        .where('kind', '=', 'plan')
        .executeTakeFirst();
      expect(dateOf(Number(grant?.expires_at))).toBe('2027-05-01');
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'basic' }, status: 'active', includedLeft: usd('12') });
    });

    test('is refused without money, for a plan not on sale, or if there already is one', async () => {
      const customer = await plans.makeRich('9');
      expect(await plans.subscribe(customer, 'basic')).toEqual({ type: 'insufficient', due: usd('10'), payable: usd('9') });
      expect(await plans.subscribe(customer, 'secret')).toEqual({ type: 'refused', why: 'not_offered' });
      expect(await plans.subscribe(customer, 'nothing')).toEqual({ type: 'refused', why: 'no_such_plan' });
      expect(await plans.subscribe(customer, 'free')).toEqual({ type: 'done', paid: usd('0') });
      expect(await plans.subscribe(customer, 'free')).toEqual({ type: 'refused', why: 'has_plan' });
      expect(await stage.balance(customer)).toBe(usd('10'));
    });

    test('is bought once by many concurrent clicks', async () => {
      const customer = await plans.makeRich('100');
      const results = await Promise.all(Array.from({ length: 10 }, () => plans.subscribe(customer, 'basic')));
      expect(results.filter(({ type }) => type === 'done')).toHaveLength(1);
      expect(await stage.balance(customer)).toBe(usd('102'));
    });

    test('cannot be paid with a gift or with plan credit', async () => {
      const customer = await stage.makeCustomer();
      await stage.redeem(customer, await stage.makeCode({ kind: 'credit', amount: usd('50') }));
      expect(await plans.subscribe(customer, 'basic')).toMatchObject({ type: 'insufficient', payable: 0n });
    });

    test('leaves alone what running requests may need', async () => {
      const customer = await plans.makeRich('15');
      const store = await stage.books.openStore('node_hold');
      const hold = {
        ...customer,
        requestId: `req_${crypto.randomUUID()}`,
        model: 'mock/gpt',
        priceVersion: 1,
        amount: usd('6'),
        minimum: usd('6'),
        createdAtMs: stage.nowMs,
      };
      await store.apply([{ type: 'hold', hold }]);
      expect(await plans.subscribe(customer, 'basic')).toMatchObject({ type: 'insufficient', payable: usd('9') });
    });

    test('by card starts with the payment, and its money stays in the balance if the plan is gone', async () => {
      const customer = await stage.makeCustomer();
      await stage.makePlan('short', { price: usd('10') });
      const payment = await stage.topUp(customer, '10', { planOrder: { type: 'subscribe', planId: 'short' }, savesCard: true });
      expect(payment).toMatchObject({ status: 'paid', purpose: 'plan', reason: '' });
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'short' }, paysBy: 'card' });
      const late = await stage.makeCustomer();
      const begun = await stage.begin(late, '10', { planOrder: { type: 'subscribe', planId: 'short' } });
      await stage.plans.end('short', 'command');
      const from = stage.stripe.books.events.length;
      stage.stripe.books.pay(stage.stripe.books.sessionOf(begun.id));
      await stage.deliverNew(from);
      expect(await plans.planOf(late)).toBeUndefined();
      expect(await stage.balance(late)).toBe(usd('10'));
      expect((await stage.desk.require(begun.id)).reason).toStartWith('the money stays in the balance');
    });

    test('is not bought on other terms than agreed, even if they change while the payer is on the payment page', async () => {
      const agreed = { due: String(usd('10')), credit: String(usd('12')) };
      const planOrder = { type: 'subscribe', planId: 'moving', agreed } as const;
      await stage.makePlan('moving', { price: usd('10'), included: usd('12') });
      const buyer = await plans.makeRich('50');
      const begun = await stage.begin(buyer, '10', { planOrder });
      await stage.makePlan('moving', { price: usd('15'), included: usd('12') });
      await stage.pay(begun.id);
      expect(await plans.planOf(buyer)).toBeUndefined();
      expect((await stage.desk.require(begun.id)).reason).toBe(
        'the money stays in the balance: the plan could not be bought (quote_expired)',
      );
      await stage.makePlan('moving', { price: usd('10'), included: usd('11') });
      expect(await plans.order(buyer, planOrder)).toEqual({ type: 'refused', why: 'quote_expired' });
      await plans.subscribe(buyer, 'basic');
      await stage.makePlan('moving', { price: usd('30'), included: usd('36') });
      const upgrade = { type: 'upgrade', planId: 'moving', atMs: stage.nowMs } as const;
      expect(await plans.order(buyer, { ...upgrade, agreed })).toEqual({ type: 'refused', why: 'quote_expired' });
      expect(await stage.balance(buyer)).toBe(usd('62'));
      expect(await plans.order(buyer, { ...upgrade, agreed: { due: String(usd('20')), credit: String(usd('24')) } })).toMatchObject({
        type: 'done',
        paid: usd('20'),
      });
    });
  });

  describe('a cancellation', () => {
    test('lets the plan run to the end of its period, and can be undone until then', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      expect(await stage.subscriptions.cancel(customer.accountId, stage.nowMs)).toBe(true);
      expect(await plans.planOf(customer)).toMatchObject({ endsWithPeriod: true });
      expect(await stage.subscriptions.resume(customer.accountId, stage.nowMs)).toBe(true);
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(customer)).toMatchObject({ status: 'active' });
      await stage.subscriptions.cancel(customer.accountId, stage.nowMs);
      await plans.moveTo(2027, 5, 31);
      expect(await plans.planOf(customer)).toBeUndefined();
      expect((await stage.left(customer))['manual']).toBe(usd('80'));
      expect(await stage.subscriptions.resume(customer.accountId, stage.nowMs)).toBe(false);
    });

    test('between the end of the period and its renewal ends the plan, and no renewal follows', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      stage.nowMs = Date.UTC(2027, 3, 30, 12, 0, 3);
      expect(await stage.subscriptions.cancel(customer.accountId, stage.nowMs)).toBe(true);
      await stage.clock.turn(stage.nowMs);
      expect(await plans.planOf(customer)).toBeUndefined();
      expect((await stage.left(customer))['manual']).toBe(usd('90'));
      expect(await stage.subscriptions.cancel(customer.accountId, stage.nowMs)).toBe(false);
    });

    test('that arrives while the renewal begins, from a node whose clock is behind, is not renewed over', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      const subscription = await plans.planOf(customer);
      if (subscription === undefined) throw new Error('no plan');
      await stage.subscriptions.cancel(customer.accountId, subscription.periodEndMs - 1);
      const order = { type: 'renew', subscriptionId: subscription.id, periodStartMs: subscription.periodEndMs } as const;
      expect(await plans.order(customer, order)).toEqual({ type: 'refused', why: 'ended' });
      expect((await stage.left(customer))['manual']).toBe(usd('90'));
    });
  });

  describe('an operator’s plan', () => {
    test('can be granted for free, temporarily or permanently, in place of another', async () => {
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'basic');
      expect(await stage.subscriptions.assign(customer.accountId, 'secret', { nowMs: stage.nowMs, periods: 1 })).toMatchObject({
        type: 'done',
      });
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'secret' }, paysBy: 'nobody' });
      expect(await stage.subscriptions.assign(customer.accountId, 'nothing', { nowMs: stage.nowMs })).toMatchObject({ type: 'refused' });
      expect(await plans.planOf(customer)).toMatchObject({ plan: { id: 'secret' } });
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(customer)).toBeUndefined();
    });

    test('limits what the keys of its accounts may do, within each key’s own limits', async () => {
      await stage.makePlan('narrow', { requestsPerMinute: 10, concurrent: 2, models: ['sandbox/echo', 'sandbox/story'] });
      const customer = await plans.makeRich('100');
      const { secret } = await stage.books.keys.create(customer.accountId, {
        name: 'own',
        requestsPerMinute: 50,
        tokensPerMinute: 7,
        models: ['sandbox/echo', 'mock/gpt'],
      });
      const before = await changesSince(stage.books.kysely, undefined);
      await stage.subscriptions.assign(customer.accountId, 'narrow', { nowMs: stage.nowMs });
      expect((await changesSince(stage.books.kysely, before?.counter))?.accountIds).toEqual([customer.accountId]);
      expect(await stage.books.keys.findHolder(hashSecret(secret))).toMatchObject({
        requestsPerMinute: 10,
        tokensPerMinute: 7,
        concurrent: 2,
        models: ['sandbox/echo'],
      });
      await stage.subscriptions.end(customer.accountId, 'test');
      expect(await stage.books.keys.findHolder(hashSecret(secret))).toMatchObject({
        requestsPerMinute: 50,
        models: ['sandbox/echo', 'mock/gpt'],
      });
    });

    test('removed from the settings is no longer offered, and ends with its period', async () => {
      const plan = planOf('from-file', { price: usd('10'), included: usd('10') });
      await stage.plans.saveSettings([plan]);
      const customer = await plans.makeRich('100');
      await plans.subscribe(customer, 'from-file');
      const before = await changesSince(stage.books.kysely, undefined);
      await stage.plans.saveSettings([plan]);
      expect(await changesSince(stage.books.kysely, before?.counter)).toBeUndefined();
      await stage.plans.saveSettings([]);
      expect(await plans.subscribe(await plans.makeRich(), 'from-file')).toEqual({ type: 'refused', why: 'no_such_plan' });
      await plans.moveTo(2027, 4, 30);
      expect(await plans.planOf(customer)).toBeUndefined();
    });
  });
}

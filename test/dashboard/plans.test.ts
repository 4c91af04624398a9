import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Plans } from '../../src/accounts/plans.ts';
import { STORES } from '../accounts/stores.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { BillingCounter, messageOf } from './billing-counter.ts';
import { FrontDesk } from './front-desk.ts';

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(`plans on ${storeName}`, () => {
    let counter: BillingCounter;
    beforeAll(async () => {
      counter = await BillingCounter.open(await open());
    });
    beforeEach(async () => {
      counter.me = await counter.desk.person();
    });
    afterAll(() => counter.close());

    test('are paid with a card of the subscriber’s choice, which must be their own', async () => {
      expect(await messageOf(counter.me.put('/plans/payment', { payBy: 'balance' }))).toBe('409 You have no plan to pay for.');
      await counter.topUp({ savesCard: true });
      await counter.take('basic');
      const { cards } = (await counter.me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
      const methodRef = cards[0]?.methodRef ?? '';
      expect(await messageOf(counter.me.put('/plans/payment', { payBy: 'card', methodRef: 'pm_of_others' }))).toBe('400 Card not found.');
      expect((await counter.me.put('/plans/payment', { payBy: 'card', methodRef })).body).toMatchObject({
        subscription: { payBy: 'card', methodRef },
      });
      expect((await counter.me.put('/plans/payment', { payBy: 'balance', methodRef })).body).toMatchObject({
        subscription: { payBy: 'balance', methodRef: null },
      });
    });

    test('use their credit before or after the balance, as the subscriber chooses', async () => {
      expect(await messageOf(counter.me.put('/plans/use', { useFirst: 'balance' }))).toBe('409 You have no plan with credit to use.');
      await counter.topUp({ amountUsd: '25' });
      await counter.take('basic');
      const order = async (): Promise<unknown> =>
        ((await counter.me.get('/billing')).body as { sources: JsonObject[] }).sources.map((source) => [source['order'], source['kind']]);
      expect(await order()).toEqual([
        [1, 'plan'],
        [2, 'paid'],
      ]);
      expect((await counter.me.put('/plans/use', { useFirst: 'balance' })).body).toMatchObject({ subscription: { useFirst: 'balance' } });
      expect((await counter.me.get('/billing')).body).toMatchObject({ planUse: 'balance' });
      expect(await order()).toEqual([
        [1, 'paid'],
        [2, 'plan'],
      ]);
    });

    test('that stop at their own credit show which credit is not used', async () => {
      await counter.topUp();
      await counter.take('closed');
      expect((await counter.me.get('/billing')).body).toMatchObject({
        planUse: 'stop',
        sources: [
          { order: 1, kind: 'plan' },
          { order: null, kind: 'paid' },
        ],
      });
    });

    test('are paid from the balance at the quoted price', async () => {
      const shown = await counter.quote('basic');
      expect(shown).toMatchObject({ dueUsd: '10', creditUsd: '12' });
      expect(await messageOf(counter.takeQuoted('basic', shown))).toBe(
        '409 The plan costs $10, and your balance has $0 that can pay for plans. Top up, or pay by card.',
      );
      await counter.topUp();
      expect((await counter.takeQuoted('basic', shown)).body).toMatchObject({ done: true });
      expect((await counter.me.get('/plans')).body).toMatchObject({
        subscription: { plan: { id: 'basic' }, includedLeftUsd: '12', payBy: 'balance' },
        payableUsd: '10',
      });
    });

    test('that cost too much do not suggest a card where cards are not accepted', async () => {
      const cardless = await FrontDesk.open(counter.desk.store);
      counter.me = await cardless.person();
      expect(await messageOf(counter.take('basic'))).toBe(
        '409 The plan costs $10, and your balance has $0 that can pay for plans. Top up.',
      );
    });

    test('are upgraded for the difference, cancelled and resumed', async () => {
      await counter.topUp({ amountUsd: '100' });
      await counter.take('basic');
      const shown = await counter.quote('pro');
      expect(shown).toMatchObject({ type: 'upgrade', chargeUsd: '20' });
      expect((await counter.takeQuoted('pro', shown)).body).toMatchObject({ done: true });
      expect(await counter.quote('basic')).toMatchObject({ type: 'at_period_end', dueUsd: '0' });
      expect((await counter.me.post('/plans/cancel')).body).toMatchObject({ subscription: { endsWithPeriod: true } });
      expect((await counter.me.post('/plans/resume')).body).toMatchObject({ subscription: { endsWithPeriod: false } });
      await counter.take('basic');
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'pro' }, nextPlan: { id: 'basic' } } });
    });

    test('are paid by card, on the payment page or with a saved card', async () => {
      const begun = (await counter.take('basic', { payBy: 'card' })).body;
      expect(begun).toMatchObject({ done: false, address: expect.stringContaining('https://checkout.example.com/') });
      await counter.pay(begun['paymentId']);
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'basic' }, payBy: 'card' } });
      const { cards } = (await counter.me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
      const methodRef = cards[0]?.methodRef ?? '';
      counter.stripe.books.declined.set(methodRef, 'do_not_honor');
      expect(await messageOf(counter.take('pro', { payBy: 'card', methodRef }))).toBe('409 The card was not charged: do not honor.');
      counter.stripe.books.declined.clear();
      expect(await messageOf(counter.take('pro', { payBy: 'card', methodRef: 'pm_of_others' }))).toBe('400 Card not found.');
      expect((await counter.take('pro', { payBy: 'card', methodRef })).body).toMatchObject({ done: true });
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'pro' } } });
      expect(counter.desk.failures).toEqual([]);
    });

    test('are upgraded by card at the quoted price only', async () => {
      await counter.topUp({ savesCard: true });
      await counter.take('basic');
      const { cards } = (await counter.me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
      const methodRef = cards[0]?.methodRef ?? '';
      const { subscription } = (await counter.me.get('/plans')).body as { subscription: { periodEndMs: number } };
      const shown = await counter.quote('pro');
      // A minute before the end of the period, the difference is close to zero.
      for (const atMs of [subscription.periodEndMs - 60_000, Date.now() + 60_000, Date.now() - 3_600_000])
        for (const card of [{ payBy: 'card' }, { payBy: 'card', methodRef }])
          expect(await messageOf(counter.takeQuoted('pro', { ...shown, atMs }, card))).toStartWith(
            '409 The quoted price is no longer valid',
          );
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'basic' } } });
      expect(((await counter.me.get('/billing/payments')).body as { payments: unknown[] }).payments).toHaveLength(1);
    });

    test('are not sold on terms that the subscriber has not seen', async () => {
      await counter.topUp({ amountUsd: '100', savesCard: true });
      const plans = new Plans(counter.desk.store.kysely);
      const plan = planOf('moving', { price: usd('10'), included: usd('12') });
      const refusals: string[] = [];
      const changeAndTake = async (changes: Partial<typeof plan>, more: JsonObject = {}): Promise<void> => {
        await plans.save(plan, 'command');
        const shown = await counter.quote('moving');
        await plans.save({ ...plan, ...changes }, 'command');
        refusals.push(String(((await counter.takeQuoted('moving', shown, more)).body['error'] as JsonObject)['code']));
      };
      for (const payBy of ['balance', 'card']) await changeAndTake({ price: usd('11') }, { payBy });
      await changeAndTake({ price: usd('9') });
      await changeAndTake({ included: usd('11') });
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: null, payableUsd: '100' });
      await counter.take('pro');
      // It would start with the next period.
      await changeAndTake({ price: usd('11') });
      await changeAndTake({ price: usd('31') });
      expect(refusals).toEqual(Array.from({ length: 6 }, () => 'quote_expired'));
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'pro' }, nextPlan: null } });
      await plans.end('moving', 'command');
    });

    test('are quoted and charged by card with the debt, to the cent', async () => {
      await counter.me.owner.accounts.credit(counter.me.owner.account, usd('-2.345'), { reason: 'test', actor: 'test' });
      expect(await counter.quote('basic')).toMatchObject({ dueUsd: '10', debtUsd: '2.345', chargeUsd: '12.35' });
      const { paymentId } = (await counter.take('basic', { payBy: 'card' })).body;
      expect((await counter.me.get(`/billing/payments/${String(paymentId)}`)).body).toMatchObject({ amountUsd: '12.35' });
      await counter.pay(paymentId);
      expect((await counter.me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'basic' } }, payableUsd: '0.005' });
      const shown = await counter.quote('pro');
      await counter.me.owner.accounts.credit(counter.me.owner.account, usd('-30'), { reason: 'test', actor: 'test' });
      expect(await messageOf(counter.takeQuoted('pro', shown, { payBy: 'card' }))).toStartWith('409 The quoted price is no longer valid');
    });

    test('are charged to a saved card once, even if the button is clicked twice', async () => {
      await counter.topUp({ savesCard: true });
      const { cards } = (await counter.me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
      const methodRef = cards[0]?.methodRef ?? '';
      const first = await counter.quote('basic');
      await Promise.all(Array.from({ length: 4 }, () => counter.takeQuoted('basic', first, { payBy: 'card', methodRef })));
      expect((await counter.me.get('/billing')).body).toMatchObject({ balanceUsd: '32' });
      const upgrade = await counter.quote('pro');
      await Promise.all(Array.from({ length: 4 }, () => counter.takeQuoted('pro', upgrade, { payBy: 'card', methodRef })));
      expect(((await counter.me.get('/billing/payments')).body as { payments: unknown[] }).payments).toHaveLength(3);
    });
  });

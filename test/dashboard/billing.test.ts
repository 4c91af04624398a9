import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Stripe } from 'stripe';
import { Plans } from '../../src/accounts/plans.ts';
import { PromoCodes, type PromoRules } from '../../src/accounts/promo-codes.ts';
import { postCredit } from '../../src/ledger/credit.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import { stripeWebhook } from '../../src/payments/webhook.ts';
import { STORES } from '../accounts/stores.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { FrontDesk, type Visitor } from './front-desk.ts';

const RULES = { minimum: usd('5'), maximum: usd('500'), presets: [usd('1'), usd('10'), usd('25'), usd('1000')], graceMs: 0 };

async function messageOf(answer: Promise<{ status: number; body: JsonObject }>): Promise<string> {
  const { status, body } = await answer;
  return `${status} ${String((body['error'] as JsonObject)['message'])}`;
}

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let stripe: StripeSimulator;
    let desk: FrontDesk;
    let webhook: (request: Request) => Promise<Response>;
    let me: Visitor;
    beforeAll(async () => {
      stripe = await startStripeSimulator();
      const store = await open();
      const settings = { secretKey: 'sk_test_simulated', webhookSecret: stripe.secret, apiUrl: stripe.url };
      const payments = { rules: RULES, stripe: settings, bankTransfer: 'IBAN XX00' };
      const money = await openMoneyIn({ database: store.kysely, payments, url: 'https://gate.example.com' });
      webhook = stripeWebhook({ database: store.kysely, stripe: new Stripe('sk_test_simulated'), secret: stripe.secret });
      desk = await FrontDesk.open(store, { money });
      const plans = new Plans(store.kysely);
      const plan = planOf('basic', { price: usd('10'), included: usd('12') });
      await plans.save(plan, 'command');
      await plans.save({ ...plan, id: 'pro', name: 'pro', price: usd('30') }, 'command');
      await plans.save({ ...plan, id: 'closed', name: 'closed', price: usd('5'), overflow: 'stop' }, 'command');
    });
    beforeEach(async () => {
      me = await desk.person();
    });
    afterAll(async () => {
      await desk.store.close();
      await stripe.stop();
    });

    const begin = async (form: JsonObject = {}) => me.post('/billing/top-ups', { amountUsd: '20', provider: 'stripe', ...form });
    const pay = async (paymentId: unknown): Promise<void> => {
      const from = stripe.books.events.length;
      stripe.books.pay(stripe.books.sessionOf(String(paymentId)));
      for (const event of stripe.books.events.slice(from)) await stripe.deliver(event, webhook);
    };
    const topUp = async (form: JsonObject = {}): Promise<JsonObject> => {
      const { body } = await begin(form);
      await pay(body['id']);
      return (await me.get(`/billing/payments/${String(body['id'])}`)).body;
    };
    const quote = async (planId: string): Promise<JsonObject> => (await me.get(`/plans/quote?planId=${planId}`)).body;
    const takeQuoted = (planId: string, { atMs, id }: JsonObject, more: JsonObject = {}) =>
      me.post('/plans/take', { planId, atMs, quoteId: id, payBy: 'balance', ...more });
    const take = async (planId: string, more: JsonObject = {}) => takeQuoted(planId, await quote(planId), more);

    describe('billing', () => {
      test('shows the balance by its sources in the order of use, and the ways to pay', async () => {
        expect((await me.get('/billing')).body).toMatchObject({
          balanceUsd: '0',
          hasHadCredit: false,
          sources: [],
          minimumUsd: '5',
          maximumUsd: '500',
          // Without those that the rules do not allow.
          presetsUsd: ['10', '25'],
          hasCards: true,
          bankTransfer: 'IBAN XX00',
        });
        await topUp();
        const [code] =
          (await new PromoCodes(desk.store.kysely).create(
            { prefix: '', count: 1 },
            { kind: 'credit', amount: usd('3'), creditDays: 9 },
            { usesMax: 1, perAccount: 1, minimumTopUp: usd('0') },
          )) ?? [];
        expect((await me.post('/billing/redeem', { code: code?.code })).body).toEqual({ kind: 'credit', usd: '3' });
        const { body } = await me.get('/billing');
        expect(body).toMatchObject({ balanceUsd: '23', availableUsd: '23', hasHadCredit: true });
        expect(body['sources']).toMatchObject([
          { kind: 'promo', leftUsd: '3' },
          { kind: 'paid', leftUsd: '20', expiresAtMs: null },
        ]);
        expect(body['moreSources']).toBeNull();
      });

      test('shows the first of very many sources, and the sum of the others', async () => {
        const accountId = me.owner.account.id;
        await desk.store.kysely.transaction().execute(async (transaction) => {
          const posting = { accountId, amount: usd('0.5'), house: 'promo_expense', kind: 'manual', reason: 'test' } as const;
          for (let count = 0; count < 150; count += 1) await postCredit(transaction, { ...posting, source: `${accountId}:${count}` });
        });
        const { body } = await me.get('/billing');
        expect(body).toMatchObject({ balanceUsd: '75', moreSources: { count: 50, leftUsd: '25' } });
        expect(body['sources']).toHaveLength(100);
      });

      test('starts a payment, links to the payment page, and credits it when paid', async () => {
        const { status, body } = await begin({ amountUsd: '12.34' });
        expect(status).toBe(201);
        expect(body).toMatchObject({
          status: 'open',
          amountUsd: '12.34',
          address: expect.stringContaining('https://checkout.example.com/'),
        });
        expect((await me.get(`/billing/payments/${String(body['id'])}`)).body).toMatchObject({ status: 'open' });
        await pay(body['id']);
        expect((await me.get(`/billing/payments/${String(body['id'])}`)).body).toMatchObject({
          status: 'paid',
          address: null,
          hasReceipt: true,
        });
        expect((await me.get(`/billing/payments/${String(body['id'])}/receipt`)).body).toEqual({
          url: expect.stringContaining('https://pay.example.com/'),
        });
        expect((await me.get('/billing')).body).toMatchObject({ balanceUsd: '12.34' });
      });

      test('has no receipt for a payment that Stripe does not know under these keys', async () => {
        const { id } = await topUp();
        stripe.books.intents.clear();
        expect(await messageOf(me.get(`/billing/payments/${String(id)}/receipt`))).toBe('404 This payment has no receipt.');
      });

      test.each([
        [{ amountUsd: '4.99' }, '400 The minimum is $5.'],
        [{ amountUsd: '501' }, '400 The maximum per payment is $500.'],
        [{ amountUsd: '5.001' }, '400 Enter an amount in whole cents.'],
        [{ amountUsd: '1e3' }, '400 amountUsd: must be an amount such as 25 or 12.50'],
        [{ unknown: 1 }, '400 The request: Unrecognized key: "unknown"'],
      ])('refuses %j', async (form, message) => {
        expect(await messageOf(begin(form))).toBe(message);
      });

      test('gives a reference for a bank transfer', async () => {
        expect((await begin({ provider: 'manual' })).body).toMatchObject({
          status: 'open',
          address: null,
          reference: expect.stringMatching(/^TG-/u),
        });
      });

      test('hides the payments of other accounts', async () => {
        const { body } = await begin();
        const other = await desk.person();
        expect((await other.get(`/billing/payments/${String(body['id'])}`)).status).toBe(404);
        expect((await other.get(`/billing/payments/${String(body['id'])}/receipt`)).status).toBe(404);
        expect((await other.get('/billing/payments')).body).toEqual({ payments: [] });
        expect((await desk.stranger('GET', '/billing')).status).toBe(401);
      });

      test('explains why a code is refused', async () => {
        const codes = new PromoCodes(desk.store.kysely);
        const make = async (rules: Partial<PromoRules>): Promise<string> =>
          (
            await codes.create(
              { prefix: '', count: 1 },
              { kind: 'credit', amount: usd('1') },
              { usesMax: 1, perAccount: 1, minimumTopUp: usd('0'), ...rules },
            )
          )?.[0]?.code ?? '';
        const say = (code: string) => messageOf(me.post('/billing/redeem', { code }));
        const used = await make({ usesMax: 2 });
        await me.post('/billing/redeem', { code: used });
        expect(await say(used)).toBe('409 You have already used this code.');
        expect(await say('NO-SUCH-CODE')).toBe('409 Unknown code. Check for characters that look alike.');
        expect(await say(await make({ validToMs: 1 }))).toBe('409 This code has expired.');
        expect(await say(await make({ validFromMs: Date.UTC(2100, 0, 1) }))).toBe(
          '409 This code is not valid yet. It can be used from 2100-01-01 00:00 UTC.',
        );
        expect(await say(await make({ minimumTopUp: usd('50') }))).toBe('409 This code is for accounts that have topped up at least $50.');
      });

      test('saves cards, and tops up automatically only if turned on', async () => {
        await topUp({ savesCard: true });
        const { cards } = (await me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
        expect(cards).toMatchObject([{ brand: 'visa', lastFour: '4242' }]);
        expect((await me.get('/billing/auto-top-up')).body).toEqual({ autoTopUp: null });
        const methodRef = cards[0]?.methodRef ?? '';
        const form = { isOn: true, thresholdUsd: '5', amountUsd: '10', monthlyCapUsd: '30', methodRef };
        expect(await messageOf(me.put('/billing/auto-top-up', { ...form, monthlyCapUsd: '9' }))).toBe(
          '400 The monthly maximum must be at least the amount of one top-up.',
        );
        expect((await me.put('/billing/auto-top-up', form)).body).toMatchObject({
          autoTopUp: { isOn: true, amountUsd: '10', chargedThisMonthUsd: '0' },
        });
        expect((await (await desk.person()).delete(`/billing/cards/${methodRef}`, {})).status).toBe(404);
        expect((await me.delete(`/billing/cards/${methodRef}`, {})).status).toBe(200);
        expect((await me.get('/billing/auto-top-up')).body).toMatchObject({ autoTopUp: { isOn: false, reason: 'the card was removed' } });
      });
    });

    describe('plans', () => {
      test('are paid with a card of the subscriber’s choice, which must be their own', async () => {
        expect(await messageOf(me.put('/plans/payment', { payBy: 'balance' }))).toBe('409 You have no plan to pay for.');
        await topUp({ savesCard: true });
        await take('basic');
        const { cards } = (await me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
        const methodRef = cards[0]?.methodRef ?? '';
        expect(await messageOf(me.put('/plans/payment', { payBy: 'card', methodRef: 'pm_of_others' }))).toBe('400 Card not found.');
        expect((await me.put('/plans/payment', { payBy: 'card', methodRef })).body).toMatchObject({
          subscription: { payBy: 'card', methodRef },
        });
        expect((await me.put('/plans/payment', { payBy: 'balance', methodRef })).body).toMatchObject({
          subscription: { payBy: 'balance', methodRef: null },
        });
      });

      test('use their credit before or after the balance, as the subscriber chooses', async () => {
        expect(await messageOf(me.put('/plans/use', { useFirst: 'balance' }))).toBe('409 You have no plan with credit to use.');
        await topUp({ amountUsd: '25' });
        await take('basic');
        const order = async (): Promise<unknown> =>
          ((await me.get('/billing')).body as { sources: JsonObject[] }).sources.map((source) => [source['order'], source['kind']]);
        expect(await order()).toEqual([
          [1, 'plan'],
          [2, 'paid'],
        ]);
        expect((await me.put('/plans/use', { useFirst: 'balance' })).body).toMatchObject({ subscription: { useFirst: 'balance' } });
        expect((await me.get('/billing')).body).toMatchObject({ planUse: 'balance' });
        expect(await order()).toEqual([
          [1, 'paid'],
          [2, 'plan'],
        ]);
      });

      test('that stop at their own credit show which credit is not used', async () => {
        await topUp();
        await take('closed');
        expect((await me.get('/billing')).body).toMatchObject({
          planUse: 'stop',
          sources: [
            { order: 1, kind: 'plan' },
            { order: null, kind: 'paid' },
          ],
        });
      });

      test('are paid from the balance at the quoted price', async () => {
        const shown = await quote('basic');
        expect(shown).toMatchObject({ dueUsd: '10', creditUsd: '12' });
        expect(await messageOf(takeQuoted('basic', shown))).toBe(
          '409 The plan costs $10, and your balance has $0 that can pay for plans. Top up, or pay by card.',
        );
        await topUp();
        expect((await takeQuoted('basic', shown)).body).toMatchObject({ done: true });
        expect((await me.get('/plans')).body).toMatchObject({
          subscription: { plan: { id: 'basic' }, includedLeftUsd: '12', payBy: 'balance' },
          payableUsd: '10',
        });
      });

      test('that cost too much do not suggest a card where cards are not accepted', async () => {
        const cardless = await (await FrontDesk.open(desk.store)).person();
        me = cardless;
        expect(await messageOf(take('basic'))).toBe('409 The plan costs $10, and your balance has $0 that can pay for plans. Top up.');
      });

      test('are upgraded for the difference, cancelled and resumed', async () => {
        await topUp({ amountUsd: '100' });
        await take('basic');
        const shown = await quote('pro');
        expect(shown).toMatchObject({ type: 'upgrade', chargeUsd: '20' });
        expect((await takeQuoted('pro', shown)).body).toMatchObject({ done: true });
        expect(await quote('basic')).toMatchObject({ type: 'at_period_end', dueUsd: '0' });
        expect((await me.post('/plans/cancel')).body).toMatchObject({ subscription: { endsWithPeriod: true } });
        expect((await me.post('/plans/resume')).body).toMatchObject({ subscription: { endsWithPeriod: false } });
        await take('basic');
        expect((await me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'pro' }, nextPlan: { id: 'basic' } } });
      });

      test('are paid by card, on the payment page or with a saved card', async () => {
        const begun = (await take('basic', { payBy: 'card' })).body;
        expect(begun).toMatchObject({ done: false, address: expect.stringContaining('https://checkout.example.com/') });
        await pay(begun['paymentId']);
        expect((await me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'basic' }, payBy: 'card' } });
        const { cards } = (await me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
        const methodRef = cards[0]?.methodRef ?? '';
        stripe.books.declined.set(methodRef, 'do_not_honor');
        expect(await messageOf(take('pro', { payBy: 'card', methodRef }))).toBe('409 The card was not charged: do not honor.');
        stripe.books.declined.clear();
        expect(await messageOf(take('pro', { payBy: 'card', methodRef: 'pm_of_others' }))).toBe('400 Card not found.');
        expect((await take('pro', { payBy: 'card', methodRef })).body).toMatchObject({ done: true });
        expect((await me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'pro' } } });
        expect(desk.failures).toEqual([]);
      });

      test('are upgraded by card at the quoted price only', async () => {
        await topUp({ savesCard: true });
        await take('basic');
        const { cards } = (await me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
        const methodRef = cards[0]?.methodRef ?? '';
        const { subscription } = (await me.get('/plans')).body as { subscription: { periodEndMs: number } };
        const shown = await quote('pro');
        // A minute before the end of the period, the difference is close to zero.
        for (const atMs of [subscription.periodEndMs - 60_000, Date.now() + 60_000, Date.now() - 3_600_000])
          for (const card of [{ payBy: 'card' }, { payBy: 'card', methodRef }])
            expect(await messageOf(takeQuoted('pro', { ...shown, atMs }, card))).toStartWith('409 The quoted price is no longer valid');
        expect((await me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'basic' } } });
        expect(((await me.get('/billing/payments')).body as { payments: unknown[] }).payments).toHaveLength(1);
      });

      test('are not sold on terms that the subscriber has not seen', async () => {
        await topUp({ amountUsd: '100', savesCard: true });
        const plans = new Plans(desk.store.kysely);
        const plan = planOf('moving', { price: usd('10'), included: usd('12') });
        const refusals: string[] = [];
        const changeAndTake = async (changes: Partial<typeof plan>, more: JsonObject = {}): Promise<void> => {
          await plans.save(plan, 'command');
          const shown = await quote('moving');
          await plans.save({ ...plan, ...changes }, 'command');
          refusals.push(String(((await takeQuoted('moving', shown, more)).body['error'] as JsonObject)['code']));
        };
        for (const payBy of ['balance', 'card']) await changeAndTake({ price: usd('11') }, { payBy });
        await changeAndTake({ price: usd('9') });
        await changeAndTake({ included: usd('11') });
        expect((await me.get('/plans')).body).toMatchObject({ subscription: null, payableUsd: '100' });
        await take('pro');
        // It would start with the next period.
        await changeAndTake({ price: usd('11') });
        await changeAndTake({ price: usd('31') });
        expect(refusals).toEqual(Array.from({ length: 6 }, () => 'quote_expired'));
        expect((await me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'pro' }, nextPlan: null } });
        await plans.end('moving', 'command');
      });

      test('are quoted and charged by card with the debt, to the cent', async () => {
        await me.owner.accounts.credit(me.owner.account, usd('-2.345'), { reason: 'test', actor: 'test' });
        expect(await quote('basic')).toMatchObject({ dueUsd: '10', debtUsd: '2.345', chargeUsd: '12.35' });
        const { paymentId } = (await take('basic', { payBy: 'card' })).body;
        expect((await me.get(`/billing/payments/${String(paymentId)}`)).body).toMatchObject({ amountUsd: '12.35' });
        await pay(paymentId);
        expect((await me.get('/plans')).body).toMatchObject({ subscription: { plan: { id: 'basic' } }, payableUsd: '0.005' });
        const shown = await quote('pro');
        await me.owner.accounts.credit(me.owner.account, usd('-30'), { reason: 'test', actor: 'test' });
        expect(await messageOf(takeQuoted('pro', shown, { payBy: 'card' }))).toStartWith('409 The quoted price is no longer valid');
      });

      test('are charged to a saved card once, even if the button is clicked twice', async () => {
        await topUp({ savesCard: true });
        const { cards } = (await me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
        const methodRef = cards[0]?.methodRef ?? '';
        const first = await quote('basic');
        await Promise.all(Array.from({ length: 4 }, () => takeQuoted('basic', first, { payBy: 'card', methodRef })));
        expect((await me.get('/billing')).body).toMatchObject({ balanceUsd: '32' });
        const upgrade = await quote('pro');
        await Promise.all(Array.from({ length: 4 }, () => takeQuoted('pro', upgrade, { payBy: 'card', methodRef })));
        expect(((await me.get('/billing/payments')).body as { payments: unknown[] }).payments).toHaveLength(3);
      });
    });
  });

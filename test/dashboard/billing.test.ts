import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { PromoCodes, type PromoRules } from '../../src/accounts/promo-codes.ts';
import { postCredit } from '../../src/ledger/credit.ts';
import { STORES } from '../accounts/stores.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { BillingCounter, messageOf } from './billing-counter.ts';

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(`billing on ${storeName}`, () => {
    let counter: BillingCounter;
    beforeAll(async () => {
      counter = await BillingCounter.open(await open());
    });
    beforeEach(async () => {
      counter.me = await counter.desk.person();
    });
    afterAll(() => counter.close());

    test('shows the balance by its sources in the order of use, and the ways to pay', async () => {
      expect((await counter.me.get('/billing')).body).toMatchObject({
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
      await counter.topUp();
      const [code] =
        (await new PromoCodes(counter.desk.store.kysely).create(
          { prefix: '', count: 1 },
          { kind: 'credit', amount: usd('3'), creditDays: 9 },
          { usesMax: 1, perAccount: 1, minimumTopUp: usd('0') },
        )) ?? [];
      expect((await counter.me.post('/billing/redeem', { code: code?.code })).body).toEqual({ kind: 'credit', usd: '3' });
      const { body } = await counter.me.get('/billing');
      expect(body).toMatchObject({ balanceUsd: '23', availableUsd: '23', hasHadCredit: true });
      expect(body['sources']).toMatchObject([
        { kind: 'promo', leftUsd: '3' },
        { kind: 'paid', leftUsd: '20', expiresAtMs: null },
      ]);
      expect(body['moreSources']).toBeNull();
    });

    test('shows the first of very many sources, and the sum of the others', async () => {
      const accountId = counter.me.owner.account.id;
      await counter.desk.store.kysely.transaction().execute(async (transaction) => {
        const posting = { accountId, amount: usd('0.5'), house: 'promo_expense', kind: 'manual', reason: 'test' } as const;
        for (let count = 0; count < 150; count += 1) await postCredit(transaction, { ...posting, source: `${accountId}:${count}` });
      });
      const { body } = await counter.me.get('/billing');
      expect(body).toMatchObject({ balanceUsd: '75', moreSources: { count: 50, leftUsd: '25' } });
      expect(body['sources']).toHaveLength(100);
    });

    test('starts a payment, links to the payment page, and credits it when paid', async () => {
      const { status, body } = await counter.begin({ amountUsd: '12.34' });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        status: 'open',
        amountUsd: '12.34',
        address: expect.stringContaining('https://checkout.example.com/'),
      });
      expect((await counter.me.get(`/billing/payments/${String(body['id'])}`)).body).toMatchObject({ status: 'open' });
      await counter.pay(body['id']);
      expect((await counter.me.get(`/billing/payments/${String(body['id'])}`)).body).toMatchObject({
        status: 'paid',
        address: null,
        hasReceipt: true,
      });
      expect((await counter.me.get(`/billing/payments/${String(body['id'])}/receipt`)).body).toEqual({
        url: expect.stringContaining('https://pay.example.com/'),
      });
      expect((await counter.me.get('/billing')).body).toMatchObject({ balanceUsd: '12.34' });
    });

    test('has no receipt for a payment that Stripe does not know under these keys', async () => {
      const { id } = await counter.topUp();
      counter.stripe.books.intents.clear();
      expect(await messageOf(counter.me.get(`/billing/payments/${String(id)}/receipt`))).toBe('404 This payment has no receipt.');
    });

    test.each([
      [{ amountUsd: '4.99' }, '400 The minimum is $5.'],
      [{ amountUsd: '501' }, '400 The maximum per payment is $500.'],
      [{ amountUsd: '5.001' }, '400 Enter an amount in whole cents.'],
      [{ amountUsd: '1e3' }, '400 amountUsd: must be an amount such as 25 or 12.50'],
      [{ unknown: 1 }, '400 The request: Unrecognized key: "unknown"'],
    ])('refuses %j', async (form, message) => {
      expect(await messageOf(counter.begin(form))).toBe(message);
    });

    test('gives a reference for a bank transfer', async () => {
      expect((await counter.begin({ provider: 'manual' })).body).toMatchObject({
        status: 'open',
        address: null,
        reference: expect.stringMatching(/^TG-/u),
      });
    });

    test('hides the payments of other accounts', async () => {
      const { body } = await counter.begin();
      const other = await counter.desk.person();
      expect((await other.get(`/billing/payments/${String(body['id'])}`)).status).toBe(404);
      expect((await other.get(`/billing/payments/${String(body['id'])}/receipt`)).status).toBe(404);
      expect((await other.get('/billing/payments')).body).toEqual({ payments: [] });
      expect((await counter.desk.stranger('GET', '/billing')).status).toBe(401);
    });

    test('explains why a code is refused', async () => {
      const codes = new PromoCodes(counter.desk.store.kysely);
      const make = async (rules: Partial<PromoRules>): Promise<string> =>
        (
          await codes.create(
            { prefix: '', count: 1 },
            { kind: 'credit', amount: usd('1') },
            { usesMax: 1, perAccount: 1, minimumTopUp: usd('0'), ...rules },
          )
        )?.[0]?.code ?? '';
      const say = (code: string) => messageOf(counter.me.post('/billing/redeem', { code }));
      const used = await make({ usesMax: 2 });
      await counter.me.post('/billing/redeem', { code: used });
      expect(await say(used)).toBe('409 You have already used this code.');
      expect(await say('NO-SUCH-CODE')).toBe('409 Unknown code. Check for characters that look alike.');
      expect(await say(await make({ validToMs: 1 }))).toBe('409 This code has expired.');
      expect(await say(await make({ validFromMs: Date.UTC(2100, 0, 1) }))).toBe(
        '409 This code is not valid yet. It can be used from 2100-01-01 00:00 UTC.',
      );
      expect(await say(await make({ minimumTopUp: usd('50') }))).toBe('409 This code is for accounts that have topped up at least $50.');
    });

    test('saves cards, and tops up automatically only if turned on', async () => {
      await counter.topUp({ savesCard: true });
      const { cards } = (await counter.me.get('/billing/cards')).body as { cards: { methodRef: string }[] };
      expect(cards).toMatchObject([{ brand: 'visa', lastFour: '4242' }]);
      expect((await counter.me.get('/billing/auto-top-up')).body).toEqual({ autoTopUp: null });
      const methodRef = cards[0]?.methodRef ?? '';
      const form = { isOn: true, thresholdUsd: '5', amountUsd: '10', monthlyCapUsd: '30', methodRef };
      expect(await messageOf(counter.me.put('/billing/auto-top-up', { ...form, monthlyCapUsd: '9' }))).toBe(
        '400 The monthly maximum must be at least the amount of one top-up.',
      );
      expect((await counter.me.put('/billing/auto-top-up', form)).body).toMatchObject({
        autoTopUp: { isOn: true, amountUsd: '10', chargedThisMonthUsd: '0' },
      });
      expect((await (await counter.desk.person()).delete(`/billing/cards/${methodRef}`, {})).status).toBe(404);
      expect((await counter.me.delete(`/billing/cards/${methodRef}`, {})).status).toBe(200);
      expect((await counter.me.get('/billing/auto-top-up')).body).toMatchObject({
        autoTopUp: { isOn: false, reason: 'the card was removed' },
      });
    });
  });

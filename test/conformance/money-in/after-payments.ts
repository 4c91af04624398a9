import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { AutoTopUp } from '../../../src/payments/auto-top-up.ts';
import { listProblems } from '../../../src/payments/problems.ts';
import { reconcilePayments, type Reconciliation } from '../../../src/payments/reconcile.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { DAY_MS, MoneyStage, usd } from './stage.ts';

function terms(card: string): Pick<AutoTopUp, 'threshold' | 'amount' | 'monthlyCap' | 'methodRef'> {
  return { threshold: usd('5'), amount: usd('10'), monthlyCap: usd('25'), methodRef: card };
}

/** What follows payments: refunds and disputes, saved cards, automatic top-ups, and the comparison with Stripe. */
export function testAfterPayments(driver: LedgerDriver): void {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(driver);
  });
  afterEach(() => stage.books.expectSound());
  afterAll(() => stage.close());

  const compare = async (sinceMs = 0): Promise<Reconciliation> => {
    const stripe = stage.desk.driver('stripe');
    if (stripe === undefined) throw new Error('no driver');
    return reconcilePayments(stage.books.kysely, stripe, sinceMs);
  };
  const kindsOf = async (ids: readonly string[]) =>
    (await compare()).differences.filter(({ paymentId }) => ids.includes(paymentId ?? '')).map(({ kind }) => kind);

  describe('a refund or dispute', () => {
    test('takes the difference from the account each time', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.topUp(customer, '20');
      for (const [cents, left] of [
        [500, '15'],
        [250, '12.5'],
        [1250, '0'],
      ] as const) {
        const from = stage.stripe.books.events.length;
        stage.stripe.books.refund(payment.provider_ref ?? '', cents);
        await stage.deliverNew(from);
        expect(await stage.balance(customer)).toBe(usd(left));
      }
      expect(await stage.desk.require(payment.id)).toMatchObject({ reversed: usd('20') });
    });

    test('leaves a debt if the money was spent', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.topUp(customer, '20');
      await stage.spend(customer, '15');
      const from = stage.stripe.books.events.length;
      stage.stripe.books.refund(payment.provider_ref ?? '', 2000);
      await stage.deliverNew(from);
      expect(await stage.balance(customer)).toBe(usd('-15'));
    });

    test('returns the money to the account if the refund failed or the dispute was won', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.topUp(customer, '20');
      const ref = payment.provider_ref ?? '';
      let from = stage.stripe.books.events.length;
      stage.stripe.books.failRefund(stage.stripe.books.refund(ref, 700));
      await stage.deliverNew(from);
      expect(await stage.balance(customer)).toBe(usd('20'));
      from = stage.stripe.books.events.length;
      const dispute = stage.stripe.books.dispute(ref);
      await stage.deliverNew(from);
      expect(await stage.balance(customer)).toBe(0n);
      expect(await listProblems(stage.books.kysely, stage.nowMs, 50)).toContainEqual(
        expect.objectContaining({ kind: 'disputed', paymentId: payment.id }),
      );
      from = stage.stripe.books.events.length;
      stage.stripe.books.closeDispute(dispute, 'won');
      await stage.deliverNew(from);
      expect(await stage.balance(customer)).toBe(usd('20'));
    });

    test('never takes more than was paid, even if a refund follows a lost dispute', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.topUp(customer, '20');
      const from = stage.stripe.books.events.length;
      stage.stripe.books.closeDispute(stage.stripe.books.dispute(payment.provider_ref ?? ''), 'lost');
      stage.stripe.books.refund(payment.provider_ref ?? '', 2000);
      await stage.deliverNew(from);
      expect(await stage.balance(customer)).toBe(0n);
    });

    test('takes the bonus of the top-up with it', async () => {
      const customer = await stage.makeCustomer();
      await stage.redeem(customer, await stage.makeCode({ kind: 'bonus', percent: 50, amount: usd('8') }));
      const payment = await stage.topUp(customer, '20');
      expect(await stage.left(customer)).toEqual({ paid: usd('20'), promo: usd('8') });
      const from = stage.stripe.books.events.length;
      stage.stripe.books.refund(payment.provider_ref ?? '', 1000);
      await stage.deliverNew(from);
      expect(await stage.left(customer)).toEqual({ paid: usd('10'), promo: usd('4') });
      expect(await stage.balance(customer)).toBe(usd('14'));
    });

    test.each([
      { title: 'nothing', spent: '0', taken: ['0', '0'] },
      { title: 'some', spent: '6', taken: ['4', '6'] },
      { title: 'all', spent: '8', taken: ['4', '8'] },
    ])('takes the spent part of an expired bonus: $title', async ({ spent, taken }) => {
      const customer = await stage.makeCustomer();
      await stage.redeem(customer, await stage.makeCode({ kind: 'bonus', percent: 50, amount: usd('8'), creditDays: 30 }));
      const payment = await stage.topUp(customer, '20');
      if (spent !== '0') await stage.spend(customer, spent);
      await stage.expireWithin(31);
      expect(await stage.balance(customer)).toBe(usd('20'));
      for (const [index, bonus] of taken.entries()) {
        const from = stage.stripe.books.events.length;
        stage.stripe.books.refund(payment.provider_ref ?? '', 1000);
        await stage.deliverNew(from);
        expect(await stage.balance(customer)).toBe(usd(index === 0 ? '10' : '0') - usd(bonus));
      }
    });
  });

  describe('automatic top-ups', () => {
    test.each(['refund', 'dispute'] as const)('stop after a %s, so that the card is not charged again', async (kind) => {
      const holder = await stage.makeCardHolder('20');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      const [payment] = await stage.books.kysely.selectFrom('payments').selectAll().where('account_id', '=', holder.accountId).execute();
      const from = stage.stripe.books.events.length;
      if (kind === 'refund') stage.stripe.books.refund(payment?.provider_ref ?? '', 2000);
      else stage.stripe.books.dispute(payment?.provider_ref ?? '');
      await stage.deliverNew(from);
      await stage.clock.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(0n);
      expect(await stage.autoTopUps.find(holder.accountId, stage.nowMs)).toMatchObject({
        isOn: false,
        reason: 'a payment was refunded or disputed',
      });
    });
  });

  describe('saved cards', () => {
    test('are kept with the account if the payer agreed, listed, and removed', async () => {
      const holder = await stage.makeCardHolder();
      const other = await stage.makeCardHolder();
      const cards = stage.desk.driver('stripe')?.cards;
      expect(await cards?.list(holder.accountId)).toEqual([
        { methodRef: holder.card, brand: 'visa', lastFour: '4242', expires: '04/2031' },
      ]);
      expect(await cards?.remove(holder.accountId, other.card)).toBe(false);
      expect(await cards?.remove(holder.accountId, holder.card)).toBe(true);
      expect(await cards?.list(holder.accountId)).toEqual([]);
      expect(await cards?.list(other.accountId)).toHaveLength(1);
    });
  });

  describe('an automatic top-up', () => {
    test('is off until the account enables it, with a card and a cap', async () => {
      const holder = await stage.makeCardHolder('6');
      expect(await stage.autoTopUps.find(holder.accountId, stage.nowMs)).toBeUndefined();
      const on = (changes: object) => stage.autoTopUps.switchOn(holder.accountId, { ...terms(holder.card), ...changes }, stage.nowMs);
      expect(await on({ amount: usd('1') })).toBe('below_minimum');
      expect(await on({ monthlyCap: usd('9') })).toBe('cap_below_amount');
      expect(await on({ methodRef: 'pm_none' })).toBe('no_such_card');
      expect(await on({})).toBeUndefined();
      await stage.autoTopUps.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(usd('6'));
    });

    test('charges the card below the threshold once, however many nodes check, up to the monthly cap', async () => {
      const holder = await stage.makeCardHolder('6');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      await stage.spend(holder, '2');
      const intents = stage.stripe.books.intents.size;
      await Promise.all(Array.from({ length: 8 }, () => stage.autoTopUps.turn(stage.nowMs)));
      expect(stage.stripe.books.intents.size).toBe(intents + 1);
      expect(await stage.balance(holder)).toBe(usd('14'));
      await stage.spend(holder, '10');
      await stage.autoTopUps.turn(stage.nowMs);
      await stage.spend(holder, '10');
      await stage.autoTopUps.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(usd('4'));
      expect(await stage.autoTopUps.find(holder.accountId, stage.nowMs)).toMatchObject({
        isOn: true,
        chargedThisMonth: usd('20'),
        reason: 'the most for this month is reached',
      });
      const nextMonthMs = stage.nowMs + 32 * DAY_MS;
      await stage.autoTopUps.turn(nextMonthMs);
      expect(await stage.balance(holder)).toBe(usd('14'));
      expect(await stage.autoTopUps.find(holder.accountId, nextMonthMs)).toMatchObject({ isOn: true, reason: '' });
    });

    test('gets its turn even if more accounts than one turn covers have reached their cap', async () => {
      const capped = {
        is_on: 1,
        threshold: usd('5'),
        amount: usd('10'),
        monthly_cap: usd('9'),
        method_ref: 'pm_any',
        reason: '',
        updated_at: stage.nowMs,
      };
      for (let count = 0; count < 100; count += 1) {
        const { accountId } = await stage.makeCustomer();
        await stage.books.kysely
          .insertInto('auto_top_ups')
          .values({ account_id: accountId, ...capped })
          .execute();
      }
      const holder = await stage.makeCardHolder('6');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      await stage.spend(holder, '2');
      await stage.autoTopUps.turn(stage.nowMs);
      await stage.autoTopUps.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(usd('14'));
    });

    test('is turned off with a reason if the card is declined', async () => {
      const holder = await stage.makeCardHolder('6');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      stage.stripe.books.declined.set(holder.card, 'insufficient_funds');
      await stage.spend(holder, '2');
      await stage.autoTopUps.turn(stage.nowMs);
      await stage.autoTopUps.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(usd('4'));
      expect(await stage.autoTopUps.find(holder.accountId, stage.nowMs)).toMatchObject({
        isOn: false,
        reason: 'the card was not charged: insufficient funds',
      });
    });

    test('whose answer was lost is requested again and charged once', async () => {
      const holder = await stage.makeCardHolder('6');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      await stage.spend(holder, '2');
      const intents = stage.stripe.books.intents.size;
      stage.stripe.loseAnswers(1);
      await stage.clock.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(usd('4'));
      await stage.clock.turn(stage.nowMs + 10_000);
      expect(await stage.balance(holder)).toBe(usd('4'));
      await stage.clock.turn(stage.nowMs + 60_000);
      expect(await stage.balance(holder)).toBe(usd('14'));
      expect(stage.stripe.books.intents.size).toBe(intents + 1);
    });

    test.each([
      { title: 'was not charged is not charged', isMade: false, balance: '4' },
      { title: 'was charged is credited', isMade: true, balance: '14' },
    ])('without an answer from Stripe that $title after it is turned off', async ({ isMade, balance }) => {
      const holder = await stage.makeCardHolder('6');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      await stage.spend(holder, '2');
      const intents = stage.stripe.books.intents.size;
      if (isMade) stage.stripe.loseAnswers(1);
      else stage.stripe.failWith(503, 1);
      await stage.clock.turn(stage.nowMs);
      await stage.autoTopUps.switchOff(holder.accountId, '', stage.nowMs);
      await stage.clock.turn(stage.nowMs + 60_000);
      expect(await stage.balance(holder)).toBe(usd(balance));
      expect(stage.stripe.books.intents.size).toBe(intents + (isMade ? 1 : 0));
      expect(await stage.autoTopUps.find(holder.accountId, stage.nowMs)).toMatchObject({ isOn: false, reason: '' });
    });

    test('whose answer was lost for longer than Stripe keeps its key is looked up, not repeated', async () => {
      const holder = await stage.makeCardHolder('6');
      await stage.autoTopUps.switchOn(holder.accountId, terms(holder.card), stage.nowMs);
      await stage.spend(holder, '2');
      stage.stripe.loseAnswers(1);
      await stage.clock.turn(stage.nowMs);
      const intents = stage.stripe.books.intents.size;
      stage.nowMs += DAY_MS;
      await stage.clock.turn(stage.nowMs);
      expect(await stage.balance(holder)).toBe(usd('14'));
      expect(stage.stripe.books.intents.size).toBe(intents);
    });
  });

  describe('the comparison with Stripe', () => {
    test('finds charges that were not credited, and explains how to fix them', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer);
      stage.stripe.books.pay(stage.stripe.books.sessionOf(payment.id));
      const { differences } = await compare();
      const found = differences.find(({ paymentId }) => paymentId === payment.id);
      expect(found).toMatchObject({ kind: 'charged_not_credited' });
      expect(found?.explanation).toEndWith(`payments ask ${payment.id}`);
      await stage.desk.poll(payment, stage.nowMs);
      expect(await kindsOf([payment.id])).toEqual([]);
      expect(await stage.balance(customer)).toBe(usd('20'));
    });

    test('does not count an inquiry, which takes no money, as a dispute', async () => {
      const { id, provider_ref: ref } = await stage.topUp(await stage.makeCustomer());
      const dispute = stage.stripe.books.dispute(ref ?? '');
      dispute['status'] = 'warning_under_review';
      expect(await kindsOf([id])).toEqual([]);
      dispute['status'] = 'needs_response';
      expect(await kindsOf([id])).toEqual(['reversal_differs']);
    });

    test('finds refunds that were missed, and payments unknown to Stripe', async () => {
      const customer = await stage.makeCustomer();
      const [refunded, gone] = [await stage.topUp(customer), await stage.topUp(customer)];
      const from = stage.stripe.books.events.length;
      stage.stripe.books.refund(refunded.provider_ref ?? '', 700);
      stage.stripe.books.intents.delete(gone.provider_ref ?? '');
      expect(await kindsOf([refunded.id, gone.id])).toEqual(['reversal_differs', 'credited_not_charged']);
      await stage.deliverNew(from);
      expect(await kindsOf([refunded.id, gone.id])).toEqual(['credited_not_charged']);
    });
  });
}

import { describe, expect, test } from 'bun:test';
import { MoneyClock } from '../../../src/payments/clock.ts';
import type { PaymentRow } from '../../../src/payments/payments.ts';
import { PaymentDesk, type ChargeRequest } from '../../../src/payments/desk.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { onPlanStage, type PlanStage } from './plan-stage.ts';
import { turnOf, usd, type Customer, type MoneyStage } from './stage.ts';

const TERMS = { threshold: usd('5'), amount: usd('10'), monthlyCap: usd('20') };
type Holder = Customer & { readonly card: string };

/** Something that happens while a charge is on its way. */
interface Change {
  readonly title: string;
  readonly happens: (holder: Holder) => Promise<unknown>;
}

/** What happens between the decision to charge a saved card and the charge. */
export function testStillWanted(driver: LedgerDriver): void {
  let plans: PlanStage;
  let stage: MoneyStage;
  onPlanStage(driver, (opened) => {
    plans = opened;
    stage = opened.money;
  });

  /** Runs a turn in which something happens after the decision and before the charge. */
  const turnDuring = async (happens: () => Promise<unknown>): Promise<void> => {
    class LateDesk extends PaymentDesk {
      override async charge(request: ChargeRequest): Promise<PaymentRow | undefined> {
        await happens();
        return super.charge(request);
      }
    }
    const stripe = stage.desk.driver('stripe');
    if (stripe === undefined) throw new Error('no Stripe');
    const desk = new LateDesk(stage.books.kysely, [stripe], stage.desk.rules);
    await turnOf(new MoneyClock(stage.books.kysely, desk), stage.nowMs);
  };
  /** Runs a turn in which Stripe does not take the charge, and the turn that follows it up. */
  const turnsAround = async (happens: () => Promise<unknown>): Promise<void> => {
    stage.stripe.failWith(503, 1);
    await stage.clock.turn(stage.nowMs);
    await happens();
    stage.nowMs += 60_000;
    await stage.clock.turn(stage.nowMs);
  };
  /** Returns the cards charged by now, and what each was charged. */
  const chargesOf = ({ accountId }: Customer): unknown[][] =>
    [...stage.stripe.books.intents.values()]
      .filter(({ metadata, status, payment_method: card }) => isOf(accountId, metadata) && status === 'succeeded' && card !== undefined)
      .map(({ payment_method: card, amount }) => [card, amount]);
  const addCard = ({ card }: Holder): string =>
    stage.stripe.books.addCard(String(stage.stripe.books.cards.get(card)?.['customer']), '1881');
  const WAYS = [
    ['before the charge', turnDuring],
    ['before a charge that Stripe did not take is repeated', turnsAround],
  ] as const;

  /** Creates a subscriber whose renewal is due again, a day after the card was declined. */
  const makeLate = async (): Promise<Holder> => {
    await stage.makePlan('basic', { price: usd('10'), included: usd('12') });
    const holder = await stage.makeCardHolder('10');
    const { accountId, card } = holder;
    await stage.subscriptions.order(
      { type: 'subscribe', planId: 'basic' },
      { accountId, nowMs: stage.nowMs, paysBy: 'card', methodRef: card },
    );
    stage.stripe.books.declined.set(card, 'insufficient_funds');
    await plans.moveTo(2027, 4, 30);
    expect(await plans.planOf(holder)).toMatchObject({ status: 'past_due', tries: 1 });
    stage.stripe.books.declined.clear();
    stage.nowMs = Date.UTC(2027, 4, 1, 12);
    return holder;
  };

  describe('a renewal by card is dropped', () => {
    const changes: readonly Change[] = [
      { title: 'the balance became enough', happens: (holder) => stage.books.credit(holder, usd('10')) },
      {
        title: 'another node renewed the plan',
        happens: async (holder) => {
          await stage.books.credit(holder, usd('10'));
          await stage.clock.turn(stage.nowMs);
        },
      },
      { title: 'the balance is to pay', happens: ({ accountId }) => stage.subscriptions.setPayment(accountId, 'balance', undefined) },
      { title: 'the plan was cancelled', happens: ({ accountId }) => stage.subscriptions.cancel(accountId, stage.nowMs) },
      {
        title: 'the operator gave a plan',
        happens: ({ accountId }) => stage.subscriptions.assign(accountId, 'pro', { nowMs: stage.nowMs }),
      },
      { title: 'the plan is no longer offered', happens: () => stage.plans.end('basic', 'command') },
    ];
    for (const [when, turn] of WAYS)
      test.each(changes)(`if $title ${when}`, async ({ happens }) => {
        const holder = await makeLate();
        await turn(() => happens(holder));
        await stage.clock.turn(stage.nowMs);
        expect(chargesOf(holder)).toEqual([]);
      });

    test('and paid from the balance that became enough', async () => {
      const holder = await makeLate();
      await turnDuring(() => stage.books.credit(holder, usd('10')));
      await stage.clock.turn(stage.nowMs);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active', periodStartMs: Date.UTC(2027, 3, 30, 12) });
      expect((await stage.left(holder))['manual']).toBeUndefined();
    });

    test('and charged anew for what the balance lacks', async () => {
      const holder = await makeLate();
      await turnDuring(() => stage.books.credit(holder, usd('4')));
      await stage.clock.turn(stage.nowMs);
      expect(chargesOf(holder)).toEqual([[holder.card, 600]]);
      expect(await plans.planOf(holder)).toMatchObject({ status: 'active' });
    });

    test('and charged anew to the card that was chosen meanwhile', async () => {
      const holder = await makeLate();
      const other = addCard(holder);
      await turnDuring(() => stage.subscriptions.setPayment(holder.accountId, 'card', other));
      await stage.clock.turn(stage.nowMs);
      expect(chargesOf(holder)).toEqual([[other, 1000]]);
    });
  });

  const switchOn = ({ accountId }: Holder, methodRef: string, changes: object = {}) =>
    stage.autoTopUps.switchOn(accountId, { ...TERMS, methodRef, ...changes }, stage.nowMs);
  /** Creates an account whose balance is below its threshold. */
  const makeLow = async (): Promise<Holder> => {
    const holder = await stage.makeCardHolder('6');
    await switchOn(holder, holder.card);
    await stage.spend(holder, '2');
    return holder;
  };

  describe('an automatic top-up', () => {
    const changes: readonly (Change & { readonly charged: readonly number[] })[] = [
      { title: 'another amount was chosen', happens: (holder) => switchOn(holder, holder.card, { amount: usd('15') }), charged: [1500] },
      { title: 'another card was chosen', happens: async (holder) => switchOn(holder, addCard(holder)), charged: [1000] },
      { title: 'the threshold was lowered', happens: (holder) => switchOn(holder, holder.card, { threshold: usd('3') }), charged: [] },
      { title: 'the balance rose', happens: (holder) => stage.books.credit(holder, usd('1')), charged: [] },
      { title: 'it was turned off', happens: ({ accountId }) => stage.autoTopUps.switchOff(accountId, '', stage.nowMs), charged: [] },
    ];
    for (const [when, turn] of WAYS)
      test.each(changes)(`follows the account if $title ${when}`, async ({ happens, charged }) => {
        const holder = await makeLow();
        await turn(() => happens(holder));
        await stage.clock.turn(stage.nowMs);
        const terms = await stage.autoTopUps.find(holder.accountId, stage.nowMs);
        expect(chargesOf(holder)).toEqual(charged.map((cents) => [terms?.methodRef, cents]));
        expect(terms?.reason).toBe('');
      });

    test('is not paused by a cap that was raised while another account was charged', async () => {
      const [other, holder] = [await makeLow(), await makeLow()];
      await switchOn(holder, holder.card, { monthlyCap: usd('10') });
      await stage.clock.turn(stage.nowMs);
      for (const owner of [other, holder]) await stage.spend(owner, '10');
      await turnDuring(() => switchOn(holder, holder.card));
      await stage.clock.turn(stage.nowMs);
      expect(chargesOf(holder)).toHaveLength(2);
    });

    test('stays on with a new card if the old one is declined after all', async () => {
      const holder = await makeLow();
      stage.stripe.books.declined.set(holder.card, 'expired_card');
      stage.stripe.loseAnswers(1);
      await stage.clock.turn(stage.nowMs);
      const card = addCard(holder);
      await switchOn(holder, card);
      stage.nowMs += 60_000;
      await stage.clock.turn(stage.nowMs);
      await stage.clock.turn(stage.nowMs);
      expect(chargesOf(holder)).toEqual([[card, 1000]]);
      expect(await stage.autoTopUps.find(holder.accountId, stage.nowMs)).toMatchObject({ isOn: true, reason: '' });
    });
  });

  for (const [when, turn] of WAYS)
    test.each([
      ['renewed', makeLate],
      ['topped up automatically', makeLow],
    ] as const)(`an account that is suspended ${when} is not %s until it is resumed`, async (_, make) => {
      const holder = await make();
      const account = await stage.books.accounts.find(holder.email);
      if (account === undefined) throw new Error('no account');
      await turn(() => stage.books.accounts.setStatus(account, 'suspended'));
      expect(chargesOf(holder)).toEqual([]);
      await stage.books.accounts.setStatus(account, 'active');
      for (let minutes = 0; minutes < 2; minutes += 1) {
        stage.nowMs += 60_000;
        await stage.clock.turn(stage.nowMs);
      }
      expect(chargesOf(holder)).toEqual([[holder.card, 1000]]);
    });
}

function isOf(accountId: string, metadata: unknown): boolean {
  return (metadata as Record<string, unknown>)['tollgate_account'] === accountId;
}

import type { Kysely } from 'kysely';
import { executeOrder, type OrderResult } from '../accounts/plan-orders.ts';
import { findPlan } from '../accounts/plans.ts';
import { endsAfterPeriod, renewalPriceOf, Subscriptions, type Subscription } from '../accounts/subscriptions.ts';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, MINUTE_MS } from '../durations.ts';
import { runEach } from '../run-each.ts';
import { CHARGES_AT_ONCE, UNFINISHED, type PaymentRow } from './payments.ts';
import type { PaymentDesk } from './desk.ts';
import { readRenewalDue, renewalIdOf } from './still-wanted.ts';

const SUBSCRIPTIONS_PER_STEP = 100;
/** No further step begins after this time. With the embedded database, renewals take turns with requests in one thread. */
const TURN_MS = 1000;
/** A balance can be topped up at any moment, but a declined card is not charged again every minute. */
const BALANCE_RETRY_MS = MINUTE_MS;
const CARD_RETRY_MS = DAY_MS;

interface FoundCard {
  readonly methodRef: string | undefined;
  readonly problem: string;
}

/** Renews or ends plans, on our own clock because a plan may be paid from the balance as well as by card. */
export class Renewals {
  readonly #database: Kysely<Tables>;
  readonly #subscriptions: Subscriptions;
  readonly #desk: PaymentDesk;

  constructor(database: Kysely<Tables>, desk: PaymentDesk) {
    this.#database = database;
    this.#subscriptions = new Subscriptions(database);
    this.#desk = desk;
  }

  /**
   * Renews or ends plans whose period is over: those paid by card, which wait for the payment provider, or all others. Many that are due at
   * once take several turns.
   */
  async turn(kind: 'card' | 'balance', nowMs: number): Promise<void> {
    const startMs = performance.now();
    let due: readonly Subscription[];
    do {
      due = await this.#subscriptions.due(kind, nowMs, SUBSCRIPTIONS_PER_STEP);
      await runEach(due, (subscription) => this.#takeTurn(subscription, nowMs), kind === 'card' ? CHARGES_AT_ONCE : 1);
    } while (due.length === SUBSCRIPTIONS_PER_STEP && performance.now() < startMs + TURN_MS);
  }

  /** A failure, which may repeat, gives way to the others. */
  async #takeTurn(subscription: Subscription, nowMs: number): Promise<void> {
    try {
      await this.#renew(subscription, nowMs);
    } catch (error) {
      await this.#subscriptions.postpone(subscription, nowMs + BALANCE_RETRY_MS);
      throw error;
    }
  }

  async #renew(subscription: Subscription, nowMs: number): Promise<void> {
    if (endsAfterPeriod(subscription))
      return this.#subscriptions.endDue(subscription, subscription.endsWithPeriod ? 'canceled' : 'its last period is over');
    if ((await findPlan(this.#database, (subscription.nextPlan ?? subscription.plan).id)) === undefined)
      return this.#subscriptions.endDue(subscription, 'the plan is no longer offered');
    const isPaidByCard = subscription.paysBy === 'card' && renewalPriceOf(subscription) > 0n;
    const known = isPaidByCard ? await this.#desk.find(renewalIdOf(subscription)) : undefined;
    // The card is charged first. After that, its money or other money may be in the balance.
    const isFirstTry = isPaidByCard && subscription.tries === 0 && known?.status !== 'paid';
    const result = isFirstTry ? undefined : await this.#fromBalance(subscription, nowMs);
    if (result?.type === 'done' || result?.type === 'refused') return;
    if (subscription.graceUntilMs !== undefined && subscription.graceUntilMs <= nowMs)
      return this.#subscriptions.endDue(subscription, `not paid: ${subscription.reason}`);
    if (isPaidByCard) return this.#byCard(subscription, known, nowMs);
    await this.#fail(subscription, 'the balance is too small', { nowMs, retryMs: BALANCE_RETRY_MS });
  }

  async #fromBalance(subscription: Subscription, nowMs: number): Promise<OrderResult> {
    const { id, accountId, paysBy, methodRef } = subscription;
    const order = { type: 'renew', subscriptionId: id, periodStartMs: subscription.periodEndMs } as const;
    return inTransaction(this.#database, (transaction) => executeOrder(transaction, order, { accountId, nowMs, paysBy, methodRef }));
  }

  async #byCard(subscription: Subscription, known: PaymentRow | undefined, nowMs: number): Promise<void> {
    const payment = known ?? (await this.#charge(subscription, nowMs));
    if (payment === undefined) return;
    // It may take days to end. Until then, plans that can be renewed come first.
    if (UNFINISHED.some((status) => status === payment.status)) return this.#subscriptions.postpone(subscription, nowMs + BALANCE_RETRY_MS);
    // Only a card that was declined gets a day's rest.
    const retryMs = payment.status === 'failed' ? CARD_RETRY_MS : BALANCE_RETRY_MS;
    if (payment.status === 'failed' || payment.status === 'expired')
      await this.#fail(subscription, `the card was not charged: ${payment.reason}`, { nowMs, retryMs });
    // Paid, but the period has not started: a debt that arose meanwhile was paid first. The account has a day to add the rest before
    // the card is charged again.
    if (payment.status === 'paid' && known !== undefined) {
      const isNextTry = Number(known.created_at) + CARD_RETRY_MS <= nowMs;
      await this.#fail(subscription, payment.reason, { nowMs, retryMs: BALANCE_RETRY_MS, isSameTry: !isNextTry });
    }
  }

  async #charge(subscription: Subscription, nowMs: number): Promise<PaymentRow | undefined> {
    const { accountId, periodEndMs, id } = subscription;
    const account = await this.#database.selectFrom('accounts').select('email').where('id', '=', accountId).executeTakeFirstOrThrow();
    const { methodRef, problem } = await this.#findCard(subscription);
    if (methodRef === undefined) {
      await this.#fail(subscription, problem, { nowMs, retryMs: BALANCE_RETRY_MS });
      return undefined;
    }
    return this.#desk.charge({
      paymentId: renewalIdOf(subscription),
      payer: { accountId, email: account.email },
      amount: await readRenewalDue(this.#database, subscription),
      purpose: 'plan',
      methodRef,
      planOrder: { type: 'renew', subscriptionId: id, periodStartMs: periodEndMs },
      nowMs,
    });
  }

  /** Returns the card that the account chose, or else the last saved one; or the reason why there is none. */
  async #findCard({ accountId, methodRef }: Subscription): Promise<FoundCard> {
    const cards = this.#desk.driver('stripe')?.cards;
    // The operator may have stopped accepting cards.
    if (cards === undefined) return { methodRef: undefined, problem: 'cards cannot be charged here any more' };
    if (methodRef !== undefined) return { methodRef, problem: '' };
    // A failed request does not mean that there is no card; the next turn asks again.
    const saved = await cards.list(accountId).catch(() => undefined);
    return { methodRef: saved?.[0]?.methodRef, problem: saved === undefined ? 'Stripe did not answer' : 'no card is saved' };
  }

  async #fail(
    subscription: Subscription,
    reason: string,
    { nowMs, retryMs, isSameTry = false }: { readonly nowMs: number; readonly retryMs: number; readonly isSameTry?: boolean },
  ): Promise<void> {
    await this.#subscriptions.markPastDue(subscription, {
      reason,
      isSameTry,
      graceUntilMs: nowMs + this.#desk.rules.graceMs,
      retryAtMs: nowMs + retryMs,
    });
  }
}

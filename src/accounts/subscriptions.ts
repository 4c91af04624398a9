import type { Kysely, Selectable } from 'kysely';
import { readOptional } from '../database/columns.ts';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { MINUTE_MS } from '../durations.ts';
import { lockWallet } from '../ledger/credit.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import { yieldToOthers } from '../turns.ts';
import {
  executeOrder,
  findPeriod,
  findSubscription,
  isUpgrade,
  priceOf,
  readIntervalOf,
  type OrderContext,
  type OrderRefusal,
  type OrderResult,
  type PaymentChoice,
  type PlanOrder,
} from './plan-orders.ts';
import { periodStartMs, prorate } from './plan-period.ts';
import { applyUse, type UseFirst } from './plan-use.ts';
import { findPlan, readPlan, type Plan } from './plans.ts';

/** An account's plan, its current period and what follows. */
export interface Subscription {
  readonly id: string;
  readonly accountId: string;
  readonly plan: Plan;
  readonly status: 'active' | 'past_due';
  readonly paysBy: PaymentChoice['paysBy'];
  readonly methodRef: string | undefined;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** Number of periods left, this one included; undefined if there is no end. */
  readonly periodsLeft: number | undefined;
  readonly endsWithPeriod: boolean;
  readonly useFirst: UseFirst;
  readonly nextPlan: Plan | undefined;
  /** Until when an unpaid plan continues. */
  readonly graceUntilMs: number | undefined;
  /** Problem with the payment; empty if there is none. */
  readonly reason: string;
  readonly tries: number;
  /** Credit included in this period, with upgrades, and what is left of it. */
  readonly includedGiven: Nanos;
  readonly includedLeft: Nanos;
}

/** What a plan would cost an account, shown before the purchase. */
export type PlanQuote =
  | {
      readonly type: 'subscribe' | 'upgrade';
      /** Of a whole period. */
      readonly price: Nanos;
      readonly due: Nanos;
      readonly credit: Nanos;
      readonly atMs: number;
      readonly endsAtMs: number;
    }
  /** Costs nothing now and starts at the end of the period. */
  | { readonly type: 'at_period_end'; readonly price: Nanos; readonly due: Nanos; readonly atMs: number; readonly startsAtMs: number }
  | { readonly type: 'refused'; readonly why: OrderRefusal };

/** How long a quoted price is valid. */
const QUOTE_MS = 15 * MINUTE_MS;

/**
 * Returns true if a quote is too old or from the future. Near the end of a period the price is almost nothing, so its time must be checked.
 */
export function isQuoteExpired(atMs: number, nowMs: number): boolean {
  return atMs > nowMs || atMs < nowMs - QUOTE_MS;
}

/** Reads and changes the subscriptions of accounts. */
export class Subscriptions {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async find(accountId: string): Promise<Subscription | undefined> {
    const row = await findSubscription(this.#database, accountId);
    return row === undefined ? undefined : this.#read(row);
  }

  /** Carries out an order, paid from the balance. */
  async order(order: PlanOrder, context: OrderContext): Promise<OrderResult> {
    if (order.type === 'upgrade' && isQuoteExpired(order.atMs, context.nowMs)) return { type: 'refused', why: 'quote_expired' };
    return inTransaction(this.#database, (transaction) => executeOrder(transaction, order, context));
  }

  /** Returns what a plan would cost at this moment. */
  async quote(accountId: string, planId: string, atMs: number): Promise<PlanQuote> {
    const plan = await findPlan(this.#database, planId);
    if (plan === undefined) return { type: 'refused', why: 'no_such_plan' };
    if (!plan.isOffered) return { type: 'refused', why: 'not_offered' };
    const current = await findSubscription(this.#database, accountId);
    const { price } = plan;
    if (current === undefined)
      return { type: 'subscribe', price, due: price, credit: plan.included, atMs, endsAtMs: periodStartMs(atMs, plan.interval, 1) };
    if (current.status === 'past_due') return { type: 'refused', why: 'past_due' };
    const period = await findPeriod(this.#database, current);
    const endMs = Number(current.period_end);
    if (!isUpgrade(period, readIntervalOf(current), plan)) return { type: 'at_period_end', price, due: NO_MONEY, atMs, startsAtMs: endMs };
    return {
      type: 'upgrade',
      price,
      ...prorate(period, plan, { startMs: Number(current.period_start), endMs, atMs }),
      atMs,
      endsAtMs: endMs,
    };
  }

  /** Schedules a change of plan for the end of the period. Naming the current plan cancels a scheduled change. */
  async changeAtPeriodEnd(accountId: string, planId: string): Promise<OrderResult> {
    const plan = await findPlan(this.#database, planId);
    if (plan === undefined) return { type: 'refused', why: 'no_such_plan' };
    if (!plan.isOffered) return { type: 'refused', why: 'not_offered' };
    const { numUpdatedRows } = await this.#database
      .updateTable('subscriptions')
      .set((expression) => ({
        next_plan_id: expression.case().when('plan_id', '=', planId).then(null).else(planId).end(),
        ends_with_period: 0,
      }))
      .where('account_id', '=', accountId)
      .where('status', '=', 'active')
      // An unpaid plan cannot be turned into a paid one this way: that has to be bought.
      .where('pays_by', '<>', 'nobody')
      .executeTakeFirst();
    return numUpdatedRows === 1n ? { type: 'done', paid: NO_MONEY } : { type: 'refused', why: 'no_subscription' };
  }

  /** Cancels the plan at the end of its period, or at once if the period is over. Returns false if there is none. */
  async cancel(accountId: string, nowMs: number): Promise<boolean> {
    return inTransaction(this.#database, async (transaction) => {
      await lockWallet(transaction, accountId);
      const current = await findSubscription(transaction, accountId);
      if (current === undefined) return false;
      if (current.status === 'past_due' || current.period_end <= nowMs) return endPlan(transaction, accountId, 'canceled');
      await transaction.updateTable('subscriptions').set({ ends_with_period: 1 }).where('id', '=', current.id).execute();
      return true;
    });
  }

  /** Undoes a cancellation while the period still runs. */
  async resume(accountId: string, nowMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('subscriptions')
      .set({ ends_with_period: 0 })
      .where('account_id', '=', accountId)
      .where('status', '=', 'active')
      .where('period_end', '>', BigInt(nowMs))
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Sets how later periods are paid. */
  async setPayment(accountId: string, paysBy: 'balance' | 'card', methodRef: string | undefined): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('subscriptions')
      .set({ pays_by: paysBy, method_ref: methodRef ?? null, retry_at: null })
      .where('account_id', '=', accountId)
      .where('status', '<>', 'ended')
      .where('pays_by', '<>', 'nobody')
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Sets which credit is used first. Returns false if there is no plan. */
  async setUse(accountId: string, useFirst: UseFirst): Promise<boolean> {
    return inTransaction(this.#database, async (transaction) => {
      await lockWallet(transaction, accountId);
      const { numUpdatedRows } = await transaction
        .updateTable('subscriptions')
        .set({ use_first: useFirst })
        .where('account_id', '=', accountId)
        .where('status', '<>', 'ended')
        .executeTakeFirst();
      await applyUse(transaction, accountId);
      return numUpdatedRows === 1n;
    });
  }

  /** Gives an account a plan free of charge, replacing its current one. */
  async assign(
    accountId: string,
    planId: string,
    { nowMs, periods }: { readonly nowMs: number; readonly periods?: number | undefined },
  ): Promise<OrderResult> {
    return inTransaction(this.#database, async (transaction) => {
      await lockWallet(transaction, accountId);
      if ((await findPlan(transaction, planId)) === undefined) return { type: 'refused', why: 'no_such_plan' };
      await endPlan(transaction, accountId, 'replaced by the operator');
      return executeOrder(transaction, { type: 'subscribe', planId }, { accountId, nowMs, paysBy: 'nobody', periods });
    });
  }

  /** Ends an account's plan at once. */
  async end(accountId: string, reason: string): Promise<boolean> {
    return inTransaction(this.#database, (transaction) => endPlan(transaction, accountId, reason));
  }

  /**
   * Returns the subscriptions whose period is over and that must be renewed or ended now. Suspended accounts are skipped: they must not pay
   * for a plan they cannot use. Plans paid by card are apart from the others.
   */
  async due(kind: 'card' | 'balance', nowMs: number, rowsMax: number): Promise<Subscription[]> {
    const now = BigInt(nowMs);
    const rows = await this.#database
      .selectFrom('subscriptions')
      .innerJoin('accounts', 'accounts.id', 'subscriptions.account_id')
      .selectAll('subscriptions')
      .where('accounts.status', '=', 'active')
      .where('subscriptions.status', '<>', 'ended')
      .where('pays_by', kind === 'card' ? '=' : '<>', 'card')
      .where('period_end', '<=', now)
      .where((where) => where.or([where('retry_at', 'is', null), where('retry_at', '<=', now), where('grace_until', '<=', now)]))
      .orderBy('period_end')
      .limit(rowsMax)
      .execute();
    const due: Subscription[] = [];
    // Each takes several queries. All at once, they would block the thread of the requests with the embedded database.
    for (const row of rows) {
      due.push(await this.#read(row));
      await yieldToOthers();
    }
    return due;
  }

  /** Takes a subscription out of those that are due until a later moment, unless it was renewed or tried meanwhile. */
  async postpone({ id, periodEndMs, tries }: Subscription, retryAtMs: number): Promise<void> {
    await this.#database
      .updateTable('subscriptions')
      .set({ retry_at: retryAtMs })
      .where('id', '=', id)
      .where('period_end', '=', BigInt(periodEndMs))
      .where('tries', '=', BigInt(tries))
      .execute();
  }

  /** Records that the next period could not be paid. The plan continues for the grace time. */
  async markPastDue(
    subscription: Subscription,
    facts: { readonly reason: string; readonly graceUntilMs: number; readonly retryAtMs: number; readonly isSameTry: boolean },
  ): Promise<void> {
    await this.#database
      .updateTable('subscriptions')
      .set((expression) => ({
        status: 'past_due',
        grace_until: expression.fn.coalesce('grace_until', expression.val(BigInt(facts.graceUntilMs))),
        retry_at: facts.retryAtMs,
        tries: expression('tries', '+', facts.isSameTry ? 0n : 1n),
        reason: facts.reason,
      }))
      .where('id', '=', subscription.id)
      .where('status', '<>', 'ended')
      // A payment that succeeded meanwhile has started the next period, and another node may have counted this attempt.
      .where('period_end', '=', BigInt(subscription.periodEndMs))
      .where('tries', '=', BigInt(subscription.tries))
      .execute();
  }

  /** Ends a subscription at the end of its period, unless it was renewed meanwhile. */
  async endDue(subscription: Subscription, reason: string): Promise<void> {
    await inTransaction(this.#database, async (transaction) => {
      await lockWallet(transaction, subscription.accountId);
      const current = await findSubscription(transaction, subscription.accountId);
      if (current?.id === subscription.id && Number(current.period_end) === subscription.periodEndMs)
        await endPlan(transaction, subscription.accountId, reason);
    });
  }

  async #read(row: Selectable<Tables['subscriptions']>): Promise<Subscription> {
    // Counts only this period's credit. The rest of the last period's can be spent for another day, but is not included here.
    const source = `plan:${row.id}:${row.period_start}`;
    const grants = await this.#database
      .selectFrom('grants')
      .select(({ fn }) => [fn.sum<bigint | null>('amount').as('given'), fn.sum<bigint | null>('remaining').as('left')])
      // The prefix is matched as a range so that an index is used: reading all grants for each renewal would be too slow.
      .where((where) => where.or([where('source', '=', source), where.between('source', `${source}:change:`, `${source}:change;`)]))
      .executeTakeFirst();
    const plan = await planOf(this.#database, row.plan_id);
    return {
      id: row.id,
      accountId: row.account_id,
      plan,
      status: row.status === 'past_due' ? 'past_due' : 'active',
      paysBy: row.pays_by,
      methodRef: row.method_ref ?? undefined,
      periodStartMs: Number(row.period_start),
      periodEndMs: Number(row.period_end),
      periodsLeft: readOptional(row.periods_left),
      endsWithPeriod: row.ends_with_period === 1n,
      useFirst: row.use_first ?? plan.useFirst,
      nextPlan: row.next_plan_id === null ? undefined : await planOf(this.#database, row.next_plan_id),
      graceUntilMs: readOptional(row.grace_until),
      reason: row.reason,
      tries: Number(row.tries),
      includedGiven: asNanos(grants?.given ?? 0n),
      includedLeft: asNanos(grants?.left ?? 0n),
    };
  }
}

/** Returns the plan of a subscription, even if it has ended. */
async function planOf(database: Kysely<Tables>, planId: string): Promise<Plan> {
  return readPlan(await database.selectFrom('plans').selectAll().where('id', '=', planId).executeTakeFirstOrThrow());
}

/** Returns whether no other period follows. */
export function endsAfterPeriod({ endsWithPeriod, periodsLeft }: Subscription): boolean {
  return endsWithPeriod || (periodsLeft !== undefined && periodsLeft <= 1);
}

/** Returns the price of the next period. */
export function renewalPriceOf({ nextPlan, plan, paysBy }: Subscription): Nanos {
  return priceOf(nextPlan ?? plan, paysBy);
}

/** Ends an account's plan at once, within the caller's transaction. Returns false if there is none. */
export async function endPlan(transaction: Kysely<Tables>, accountId: string, reason: string): Promise<boolean> {
  await lockWallet(transaction, accountId);
  const { numUpdatedRows } = await transaction
    .updateTable('subscriptions')
    .set({ status: 'ended', reason })
    .where('account_id', '=', accountId)
    .where('status', '<>', 'ended')
    .executeTakeFirst();
  await applyUse(transaction, accountId);
  return numUpdatedRows === 1n;
}

import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { makeId } from '../ids.ts';
import { lockWallet, payFromBalance, postCredit } from '../ledger/credit.ts';
import { NO_MONEY, type Nanos } from '../ledger/money.ts';
import { findPlan, type Plan } from './plans.ts';
import { periodStartMs, prorate, type Proration } from './plan-period.ts';
import { applyUse } from './plan-use.ts';

/** A purchase concerning a plan. It is paid from the balance; a card payment is credited to the balance first. */
export type PlanOrder =
  | { readonly type: 'subscribe'; readonly planId: string; readonly agreed?: AgreedTerms | undefined }
  /** The period that follows the current one. */
  | { readonly type: 'renew'; readonly subscriptionId: string; readonly periodStartMs: number }
  /** A more expensive plan for the rest of the period, at the price quoted at `atMs`. */
  | { readonly type: 'upgrade'; readonly planId: string; readonly atMs: number; readonly agreed?: AgreedTerms | undefined };

/** What the account agreed to pay and get now, in nano-dollars. The operator may have changed the plan since. Absent if nobody pays. */
interface AgreedTerms {
  readonly due: string;
  readonly credit: string;
}

/** Why an order was refused. */
export type OrderRefusal =
  | 'no_such_plan'
  | 'not_offered'
  | 'has_plan'
  | 'no_subscription'
  | 'past_due'
  | 'not_an_upgrade'
  | 'quote_expired'
  | 'done_before'
  | 'ended';

/** The result of an order. */
export type OrderResult =
  | { readonly type: 'done'; readonly paid: Nanos }
  | { readonly type: 'insufficient'; readonly due: Nanos; readonly payable: Nanos }
  | { readonly type: 'refused'; readonly why: OrderRefusal };

/** How later periods are paid. */
export interface PaymentChoice {
  readonly paysBy: 'balance' | 'card' | 'nobody';
  readonly methodRef?: string | undefined;
}

/** The account, time and payment of an order. */
export interface OrderContext extends PaymentChoice {
  readonly accountId: string;
  readonly nowMs: number;
  /** Number of periods, only for plans that nobody pays for; undefined means no end. */
  readonly periods?: number | undefined;
  /** Amount that was paid in for this order. */
  readonly cameIn?: Nanos | undefined;
}

type SubscriptionRow = Selectable<Tables['subscriptions']>;

/** Carries out an order within a transaction: charges the price, starts the period and grants the credit, or does nothing. */
export async function executeOrder(transaction: Kysely<Tables>, order: PlanOrder, context: OrderContext): Promise<OrderResult> {
  // The wallet's lock serializes all changes to an account's plan.
  await lockWallet(transaction, context.accountId);
  switch (order.type) {
    case 'subscribe':
      return subscribe(transaction, order, context);
    case 'renew':
      return renew(transaction, order, context);
    case 'upgrade':
      return upgrade(transaction, order, context);
  }
}

/** Returns the account's subscription, unless it has ended. */
export async function findSubscription(database: Kysely<Tables>, accountId: string): Promise<SubscriptionRow | undefined> {
  return database
    .selectFrom('subscriptions')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('status', '<>', 'ended')
    .executeTakeFirst();
}

/** Returns the current period of a subscription, with its price and included credit. */
export async function findPeriod(
  database: Kysely<Tables>,
  { id, period_start }: Pick<SubscriptionRow, 'id' | 'period_start'>,
): Promise<Selectable<Tables['plan_periods']>> {
  return database
    .selectFrom('plan_periods')
    .selectAll()
    .where('subscription_id', '=', id)
    .where('period_start', '=', period_start)
    .executeTakeFirstOrThrow();
}

async function subscribe(
  transaction: Kysely<Tables>,
  order: Extract<PlanOrder, { type: 'subscribe' }>,
  context: OrderContext,
): Promise<OrderResult> {
  const plan = await findPlan(transaction, order.planId);
  if (plan === undefined) return refused('no_such_plan');
  if (!plan.isOffered && context.paysBy !== 'nobody') return refused('not_offered');
  if ((await findSubscription(transaction, context.accountId)) !== undefined) return refused('has_plan');
  const id = makeId('sub', context.nowMs);
  const price = priceOf(plan, context.paysBy);
  if (!isAgreed(order.agreed, { due: price, credit: plan.included })) return refused('quote_expired');
  const period = { subscriptionId: id, plan, price, startMs: context.nowMs, endMs: periodStartMs(context.nowMs, plan.interval, 1) };
  const unpaid = await payPeriod(transaction, period, context);
  if (unpaid !== undefined) return unpaid;
  await transaction
    .insertInto('subscriptions')
    .values({
      id,
      account_id: context.accountId,
      plan_id: plan.id,
      status: 'active',
      pays_by: context.paysBy,
      method_ref: context.methodRef ?? null,
      anchor: period.startMs,
      turn: 0,
      period_start: period.startMs,
      period_end: period.endMs,
      periods_left: context.periods ?? null,
      ends_with_period: 0,
      reason: '',
      created_at: context.nowMs,
    })
    .execute();
  await startPeriod(transaction, period, context);
  return { type: 'done', paid: price };
}

async function renew(
  transaction: Kysely<Tables>,
  order: Extract<PlanOrder, { type: 'renew' }>,
  context: OrderContext,
): Promise<OrderResult> {
  const current = await findSubscription(transaction, context.accountId);
  if (current === undefined || current.id !== order.subscriptionId || current.ends_with_period === 1n) return refused('ended');
  if (Number(current.period_end) !== order.periodStartMs) return refused('done_before');
  const plan = await findPlan(transaction, current.next_plan_id ?? current.plan_id);
  if (plan === undefined) return refused('no_such_plan');
  const next = nextPeriod(current, plan, context.nowMs);
  const price = priceOf(plan, current.pays_by);
  const period = { subscriptionId: current.id, plan, price, startMs: next.startMs, endMs: next.endMs };
  const unpaid = await payPeriod(transaction, period, context);
  if (unpaid !== undefined) return unpaid;
  await transaction
    .updateTable('subscriptions')
    .set({
      plan_id: plan.id,
      next_plan_id: null,
      status: 'active',
      anchor: next.anchorMs,
      turn: next.turn,
      period_start: next.startMs,
      period_end: next.endMs,
      periods_left: current.periods_left === null ? null : current.periods_left - 1n,
      grace_until: null,
      retry_at: null,
      tries: 0,
      reason: '',
    })
    .where('id', '=', current.id)
    .execute();
  await startPeriod(transaction, period, context);
  return { type: 'done', paid: price };
}

async function upgrade(
  transaction: Kysely<Tables>,
  order: Extract<PlanOrder, { type: 'upgrade' }>,
  context: OrderContext,
): Promise<OrderResult> {
  const current = await findSubscription(transaction, context.accountId);
  if (current === undefined) return refused('no_subscription');
  if (current.status === 'past_due') return refused('past_due');
  const plan = await findPlan(transaction, order.planId);
  if (plan === undefined) return refused('no_such_plan');
  if (!plan.isOffered) return refused('not_offered');
  const period = await findPeriod(transaction, current);
  const startMs = Number(current.period_start);
  const endMs = Number(current.period_end);
  if (order.atMs < startMs || order.atMs > endMs || context.nowMs >= endMs) return refused('quote_expired');
  if (!isUpgrade(period, readIntervalOf(current), plan)) return refused('not_an_upgrade');
  const { due, credit } = prorate(period, plan, { startMs, endMs, atMs: order.atMs });
  if (!isAgreed(order.agreed, { due, credit })) return refused('quote_expired');
  const entry = { source: `plan:${current.id}:${startMs}:change:${period.changes + 1n}`, reason: `${plan.name}, rest of the period` };
  const unpaid = await pay(transaction, { ...entry, amount: due }, context);
  if (unpaid !== undefined) return unpaid;
  await grant(transaction, { ...entry, amount: credit, endMs }, context);
  await transaction
    .updateTable('plan_periods')
    .set({ plan_id: plan.id, price: plan.price, included: plan.included, changes: period.changes + 1n })
    .where('subscription_id', '=', current.id)
    .where('period_start', '=', current.period_start)
    .execute();
  await transaction
    .updateTable('subscriptions')
    .set({
      plan_id: plan.id,
      next_plan_id: null,
      pays_by: context.paysBy,
      method_ref: context.methodRef ?? current.method_ref,
      periods_left: null,
      ends_with_period: 0,
    })
    .where('id', '=', current.id)
    .execute();
  await applyUse(transaction, context.accountId);
  return { type: 'done', paid: due };
}

function isAgreed(agreed: AgreedTerms | undefined, { due, credit }: Proration): boolean {
  return agreed === undefined || (agreed.due === String(due) && agreed.credit === String(credit));
}

/**
 * Returns true if a change takes effect at once: to a more expensive plan of the same interval. All others wait for the end of the period.
 */
export function isUpgrade(period: { readonly price: bigint }, interval: Plan['interval'], plan: Plan): boolean {
  return plan.price > period.price && plan.interval === interval;
}

/** Returns the interval of a period, by its length. */
export function readIntervalOf({ period_start, period_end }: Pick<SubscriptionRow, 'period_start' | 'period_end'>): Plan['interval'] {
  return period_end - period_start > 100n * BigInt(DAY_MS) ? 'year' : 'month';
}

interface NextPeriod {
  readonly anchorMs: number;
  readonly turn: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the next period. It follows the last one, unless the service was down for all of it: nobody pays for time without service. */
function nextPeriod(current: SubscriptionRow, plan: Plan, nowMs: number): NextPeriod {
  const isSameInterval = plan.interval === readIntervalOf(current);
  const startMs = Number(current.period_end);
  const [anchorMs, turn] = isSameInterval ? [Number(current.anchor), Number(current.turn) + 1] : [startMs, 0];
  const endMs = periodStartMs(anchorMs, plan.interval, turn + 1);
  if (endMs > nowMs) return { anchorMs, turn, startMs, endMs };
  return { anchorMs: nowMs, turn: 0, startMs: nowMs, endMs: periodStartMs(nowMs, plan.interval, 1) };
}

/** Returns what a period of a plan costs its subscriber. */
export function priceOf(plan: Plan, paysBy: PaymentChoice['paysBy']): Nanos {
  return paysBy === 'nobody' ? NO_MONEY : plan.price;
}

interface Period {
  readonly subscriptionId: string;
  readonly plan: Plan;
  readonly price: Nanos;
  readonly startMs: number;
  readonly endMs: number;
}

/** Charges the price of a period. Returns a result only if the balance is too small. */
function payPeriod(transaction: Kysely<Tables>, period: Period, context: OrderContext): Promise<OrderResult | undefined> {
  const { subscriptionId, plan, price, startMs } = period;
  const reason = `${plan.name}, from ${new Date(startMs).toISOString().slice(0, 10)}`;
  return pay(transaction, { source: `plan:${subscriptionId}:${startMs}`, reason, amount: price }, context);
}

/** Starts a period and gives its credit. */
async function startPeriod(transaction: Kysely<Tables>, period: Period, context: OrderContext): Promise<void> {
  const { subscriptionId, plan, price, startMs, endMs } = period;
  await transaction
    .insertInto('plan_periods')
    .values({
      subscription_id: subscriptionId,
      period_start: startMs,
      period_end: endMs,
      plan_id: plan.id,
      price,
      included: plan.included,
      created_at: context.nowMs,
    })
    .execute();
  const source = `plan:${subscriptionId}:${startMs}`;
  await grant(transaction, { source, reason: `${plan.name}, included`, amount: plan.included, endMs }, context);
  await applyUse(transaction, context.accountId);
}

/** An amount in the ledger, under the name of the period or change that it belongs to. */
interface Entry {
  readonly source: string;
  readonly reason: string;
  readonly amount: Nanos;
}

async function pay(transaction: Kysely<Tables>, entry: Entry, context: OrderContext): Promise<OrderResult | undefined> {
  if (entry.amount === 0n) return undefined;
  const { accountId, nowMs, cameIn } = context;
  const posting = { ...entry, source: `${entry.source}:price`, accountId, house: 'revenue', kind: 'plan', atMs: nowMs, cameIn } as const;
  const payment = await payFromBalance(transaction, posting);
  return payment.type === 'insufficient' ? { type: 'insufficient', due: entry.amount, payable: payment.payable } : undefined;
}

/** Gives credit for a period. It can be spent until a day after the end. */
async function grant(
  transaction: Kysely<Tables>,
  { endMs, ...entry }: Entry & { readonly endMs: number },
  { accountId, nowMs }: OrderContext,
): Promise<void> {
  if (entry.amount === 0n) return;
  await postCredit(transaction, { ...entry, accountId, house: 'plan_grant', kind: 'plan', expiresAtMs: endMs + DAY_MS, atMs: nowMs });
}

function refused(why: OrderRefusal): OrderResult {
  return { type: 'refused', why };
}

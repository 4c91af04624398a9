import { sql, type Kysely } from 'kysely';
import { readPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';

/** States of a subscriber. Cancelling ones have paid, and leave at the end of their period. */
export const SUBSCRIBER_STATES = ['active', 'cancelling', 'past_due'] as const;
type SubscriberState = (typeof SUBSCRIBER_STATES)[number];

/** The number of subscribers of a plan, and its revenue. */
export interface PlanFigures {
  readonly subscribers: Readonly<Record<SubscriberState, number>>;
  /** What active subscribers pay for their current periods, converted to a month. */
  readonly monthly: Nanos;
}

/** The figures of a plan without subscribers. */
export const NO_SUBSCRIBERS: PlanFigures = { subscribers: { active: 0, cancelling: 0, past_due: 0 }, monthly: NO_MONEY };

const MONTHS = 12n;
const NOT_ENDED = sql<boolean>`subscriptions.status <> 'ended'`;
const STATE = sql<SubscriberState>`CASE WHEN subscriptions.status = 'past_due' THEN 'past_due'
  WHEN subscriptions.ends_with_period = 1 THEN 'cancelling' ELSE 'active' END`;
/** Tells a month from a year by the length of the period, since the plan may have changed since it began. */
const IS_YEAR = sql<bigint>`CASE WHEN subscriptions.period_end - subscriptions.period_start > 8640000000 THEN 1 ELSE 0 END`;

/** Returns the figures of every plan that has subscribers. */
export async function readPlanFigures(database: Kysely<Tables>): Promise<ReadonlyMap<string, PlanFigures>> {
  const rows = await database
    .selectFrom('subscriptions')
    .innerJoin('plan_periods', (join) =>
      join
        .onRef('plan_periods.subscription_id', '=', 'subscriptions.id')
        .onRef('plan_periods.period_start', '=', 'subscriptions.period_start'),
    )
    .select('subscriptions.plan_id')
    .select([STATE.as('state'), IS_YEAR.as('is_year')])
    .select(({ fn }) => [fn.countAll<bigint>().as('count'), fn.sum<bigint>('plan_periods.price').as('price')])
    .where(NOT_ENDED)
    .groupBy(['subscriptions.plan_id', STATE, IS_YEAR])
    .execute();
  const figures = new Map<string, PlanFigures>();
  for (const { plan_id, state, is_year, count, price } of rows) {
    const { subscribers, monthly } = figures.get(plan_id) ?? NO_SUBSCRIBERS;
    const more = state !== 'active' ? 0n : Number(is_year) === 1 ? price / MONTHS : price;
    figures.set(plan_id, {
      subscribers: { ...subscribers, [state]: subscribers[state] + Number(count) },
      monthly: asNanos(monthly + more),
    });
  }
  return figures;
}

/** An account that has a plan. */
export interface Subscriber {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly state: SubscriberState;
  readonly paysBy: 'balance' | 'card' | 'nobody';
  readonly sinceMs: number;
  readonly periodEndMs: number;
  /** Whether another period of this plan will follow if nothing changes. */
  readonly isRenewing: boolean;
  readonly nextPlanId: string | undefined;
}

/** Returns a page of a plan's subscribers, newest first. */
export async function readSubscribers(
  database: Kysely<Tables>,
  of: { readonly planId: string; readonly state?: SubscriberState | undefined },
  page: PageRequest,
): Promise<PageOf<Subscriber>> {
  let query = database
    .selectFrom('subscriptions')
    .innerJoin('accounts', 'accounts.id', 'subscriptions.account_id')
    .selectAll('subscriptions')
    .select(['accounts.email', STATE.as('state')])
    .where('plan_id', '=', of.planId)
    .where(NOT_ENDED);
  if (of.state !== undefined) query = query.where(STATE, '=', of.state);
  const { rows, next } = await readPage(query, 'subscriptions', 'id', page);
  const subscribers = rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    state: row.state,
    paysBy: row.pays_by,
    sinceMs: Number(row.created_at),
    periodEndMs: Number(row.period_end),
    isRenewing: row.ends_with_period === 0n && row.periods_left !== 1n && row.next_plan_id === null,
    nextPlanId: row.next_plan_id ?? undefined,
  }));
  return { rows: subscribers, next };
}

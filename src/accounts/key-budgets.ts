import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { allowedFromMs, Budget, pacedPerHour, windowOf, type BudgetRow } from '../ledger/budget.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import type { AtLimit } from './key-settings.ts';

/** A budget of a key for one period, and how much of it is spent and held. */
export interface KeyBudget {
  readonly period: BudgetPeriod;
  readonly amount: Nanos;
  readonly spent: Nanos;
  readonly held: Nanos;
  /** The most that a request could hold at this moment. */
  readonly free: Nanos;
  readonly zone: string;
  /** Set if the key slows down: how much is released per hour and, if nothing is free now, when something will be. */
  readonly pace: { readonly perHour: Nanos; readonly freeAtMs: number | undefined } | undefined;
  /** When the period ends and counting starts again; undefined for the total. */
  readonly resetsAtMs: number | undefined;
  /** When the budget last refused a request, in this period and with this amount. */
  readonly refusedAtMs: number | undefined;
}

/** Amounts by period. Null removes a budget; an absent period stays as it is. */
export type BudgetChange = { readonly [Period in BudgetPeriod]?: Nanos | null | undefined };

/** A key with the rules that apply to all its budgets. */
export interface LimitedKey {
  readonly id: string;
  readonly atLimit: AtLimit;
  readonly limitZone: string;
}

/**
 * Changes the budgets of a key and applies its rules to all of them. What was spent stays counted. The caller's transaction must have
 * locked the account's wallet, which keeps the key's requests from starting or ending between the sum of its holds and the insert.
 */
export async function writeBudgets(transaction: Transaction<Tables>, key: LimitedKey, change: BudgetChange): Promise<void> {
  const periods = BUDGET_PERIODS.filter((period) => change[period] !== undefined);
  if (periods.length === 0 && !(await hasOtherRules(transaction, key))) return;
  await applyRules(transaction, key);
  if (periods.length === 0) return;
  const open = await transaction
    .selectFrom('holds')
    .select(({ fn }) => fn.sum<bigint | null>('amount').as('held'))
    .where('key_id', '=', key.id)
    .executeTakeFirst();
  for (const period of periods) {
    const amount = change[period] ?? undefined;
    await writeBudget(transaction, { key, period, amount, held: open?.held ?? 0n });
  }
  await transaction.deleteFrom('budget_refusals').where('key_id', '=', key.id).where('period', 'in', periods).execute();
}

/** A query for the ids of some keys. A list of ids could be longer than databases allow. */
export type KeyQuery = SelectQueryBuilder<Tables, 'api_keys', { id: string }>;

/** Returns the budgets of these keys at a moment, by key id. */
export async function readBudgets(
  database: Kysely<Tables>,
  keyIds: KeyQuery,
  nowMs: number = Date.now(),
): Promise<Map<string, KeyBudget[]>> {
  const budgets = new Map<string, KeyBudget[]>();
  const rows = await database
    .selectFrom('key_budgets')
    .leftJoin('budget_refusals', (join) =>
      join.onRef('budget_refusals.key_id', '=', 'key_budgets.key_id').onRef('budget_refusals.period', '=', 'key_budgets.period'),
    )
    .selectAll('key_budgets')
    .select('budget_refusals.refused_at')
    .where('key_budgets.key_id', 'in', keyIds)
    .execute();
  for (const period of BUDGET_PERIODS)
    for (const row of rows.filter((each) => each.period === period)) {
      const list = budgets.get(row.key_id) ?? [];
      budgets.set(row.key_id, [...list, describe(row, nowMs)]);
    }
  return budgets;
}

/** Returns true if a budget is spent or has refused a request since its period began. */
export function isReached({ amount, spent, refusedAtMs }: KeyBudget): boolean {
  return spent >= amount || refusedAtMs !== undefined;
}

function describe(row: BudgetRow & { readonly refused_at: bigint | null }, nowMs: number): KeyBudget {
  const budget = new Budget(row);
  // An expired window is closed by the next request; until then its row holds the sum of the previous period.
  budget.turn(nowMs);
  const { period, amount, spent, held, zone, startMs, endMs } = budget;
  const left = budget.leftAt(nowMs);
  return {
    period,
    amount: asNanos(amount),
    spent: asNanos(spent),
    held: asNanos(held),
    free: left > 0n ? asNanos(left) : NO_MONEY,
    zone,
    pace: describePace(budget, left),
    resetsAtMs: endMs,
    refusedAtMs: row.refused_at === null || row.refused_at < startMs ? undefined : Number(row.refused_at),
  };
}

function describePace(budget: Budget, left: bigint): KeyBudget['pace'] {
  if (!budget.isPaced || budget.endMs === undefined) return undefined;
  const freeAtMs = left > 0n ? undefined : allowedFromMs(budget, budget.spent + budget.held + 1n);
  return { perHour: asNanos(pacedPerHour(budget)), freeAtMs };
}

async function hasOtherRules(transaction: Transaction<Tables>, key: LimitedKey): Promise<boolean> {
  const rows = await transaction.selectFrom('key_budgets').select(['zone', 'is_paced']).where('key_id', '=', key.id).execute();
  return rows.some((row) => row.zone !== key.limitZone || row.is_paced !== pacedBy(key));
}

/**
 * Applies the key's zone and pace to its budgets. In another zone the current window has other limits, but what was spent in it stays
 * counted: changing the zone must not widen a limit.
 */
async function applyRules(transaction: Transaction<Tables>, key: LimitedKey): Promise<void> {
  const nowMs = Date.now();
  const rows = await transaction.selectFrom('key_budgets').selectAll().where('key_id', '=', key.id).execute();
  for (const row of rows) {
    if (row.zone === key.limitZone && row.is_paced === pacedBy(key)) continue;
    const budget = new Budget(row);
    budget.turn(nowMs);
    const { startMs, endMs = null } = row.zone === key.limitZone ? budget : windowOf(row.period, nowMs, key.limitZone);
    await transaction
      .updateTable('key_budgets')
      .set({ zone: key.limitZone, is_paced: pacedBy(key), spent: budget.spent, window_start: startMs, window_end: endMs })
      .where('key_id', '=', key.id)
      .where('period', '=', row.period)
      .execute();
  }
}

function pacedBy({ atLimit }: LimitedKey): bigint {
  return atLimit === 'slow_down' ? 1n : 0n;
}

interface NewBudget {
  readonly key: LimitedKey;
  readonly period: BudgetPeriod;
  readonly amount: Nanos | undefined;
  readonly held: bigint;
}

async function writeBudget(transaction: Transaction<Tables>, { key, period, amount, held }: NewBudget): Promise<void> {
  if (amount === undefined) {
    await transaction.deleteFrom('key_budgets').where('key_id', '=', key.id).where('period', '=', period).execute();
    return;
  }
  const { startMs, endMs = null } = windowOf(period, Date.now(), key.limitZone);
  const rules = { zone: key.limitZone, is_paced: pacedBy(key), window_start: startMs, window_end: endMs };
  await transaction
    .insertInto('key_budgets')
    .values({ key_id: key.id, period, amount, spent: 0n, held, ...rules })
    .onConflict((conflict) => conflict.columns(['key_id', 'period']).doUpdateSet({ amount }))
    .execute();
}

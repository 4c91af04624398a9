import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { allowedFromMs, Budget, pacedPerHour, windowOf, type BudgetRow } from '../ledger/budget.ts';
import { lockWallet } from '../ledger/credit.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import type { AtLimit } from './key-settings.ts';

/** What a key may spend in a period, and what it has. */
export interface KeyBudget {
  readonly period: BudgetPeriod;
  readonly amount: Nanos;
  readonly spent: Nanos;
  readonly held: Nanos;
  /** What a request could hold at this moment. */
  readonly free: Nanos;
  readonly zone: string;
  /** Set where the key slows down: what is let out in an hour, and from when on anything is free, where nothing is now. */
  readonly pace: { readonly perHour: Nanos; readonly freeAtMs: number | undefined } | undefined;
  /** When the period ends and the count begins anew; never for the total. */
  readonly resetsAtMs: number | undefined;
  /** When the budget last refused a request, in this period and with this amount. */
  readonly refusedAtMs: number | undefined;
}

/** Amounts by period; null lifts one, and what is absent stays. */
export type BudgetChange = { readonly [Period in BudgetPeriod]?: Nanos | null | undefined };

/** A key with what all of its budgets go by. */
export interface LimitedKey {
  readonly id: string;
  readonly accountId: string;
  readonly atLimit: AtLimit;
  readonly limitZone: string;
}

/** Changes the budgets of a key whose row the transaction has locked, and has all of them go by its rules. What was spent stays counted. */
export async function writeBudgets(transaction: Transaction<Tables>, key: LimitedKey, change: BudgetChange): Promise<void> {
  const periods = BUDGET_PERIODS.filter((period) => change[period] !== undefined);
  if (periods.length === 0 && !(await hasOtherRules(transaction, key))) return;
  // Keeps requests of the key from beginning or ending between the sum of its holds and the insert.
  await lockWallet(transaction, key.accountId);
  await followRules(transaction, key);
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

/** The budgets of some keys at a moment, by the id of the key. */
export async function readBudgets(
  database: Kysely<Tables>,
  keyIds: readonly string[],
  nowMs: number = Date.now(),
): Promise<Map<string, KeyBudget[]>> {
  const budgets = new Map<string, KeyBudget[]>();
  if (keyIds.length === 0) return budgets;
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

/** Whether a budget lets nothing more through: it is spent, or it has refused a request since its period began. */
export function isReached({ amount, spent, refusedAtMs }: KeyBudget): boolean {
  return spent >= amount || refusedAtMs !== undefined;
}

function describe(row: BudgetRow & { readonly refused_at: bigint | null }, nowMs: number): KeyBudget {
  const budget = new Budget(row);
  // A window that is over ends with the next request; until then its sum is of the past.
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

/** In another zone the window that is running has other ends. What was spent in it stays spent: a limit is never passed by moving. */
async function followRules(transaction: Transaction<Tables>, key: LimitedKey): Promise<void> {
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

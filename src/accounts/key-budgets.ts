import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { windowStartMs } from '../ledger/budget.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';

/** What a key may spend in a period, and what it has. */
export interface KeyBudget {
  readonly period: BudgetPeriod;
  readonly amount: Nanos;
  readonly spent: Nanos;
  readonly held: Nanos;
  /** When the period ends and the count begins anew; never for the total. */
  readonly resetsAtMs: number | undefined;
  /** When the budget last refused a request, in this period and with this amount. */
  readonly refusedAtMs: number | undefined;
}

/** Amounts by period; null lifts one, and what is absent stays. */
export type BudgetChange = { readonly [Period in BudgetPeriod]?: Nanos | null | undefined };

const DAY_MS = 86_400_000;

/** Changes the budgets of a key whose row the transaction has locked. What was spent stays counted. */
export async function writeBudgets(transaction: Transaction<Tables>, keyId: string, change: BudgetChange): Promise<void> {
  const periods = BUDGET_PERIODS.filter((period) => change[period] !== undefined);
  if (periods.length === 0) return;
  await lockWallet(transaction, keyId);
  const open = await transaction
    .selectFrom('holds')
    .select(({ fn }) => fn.sum<bigint | null>('amount').as('held'))
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  for (const period of periods) {
    const amount = change[period] ?? undefined;
    await writeBudget(transaction, { keyId, period, amount, held: open?.held ?? 0n });
  }
  await transaction.deleteFrom('budget_refusals').where('key_id', '=', keyId).where('period', 'in', periods).execute();
}

/** The budgets of some keys, by the id of the key. */
export async function readBudgets(database: Kysely<Tables>, keyIds: readonly string[]): Promise<Map<string, KeyBudget[]>> {
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
  const nowMs = Date.now();
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

interface BudgetRow {
  readonly period: BudgetPeriod;
  readonly amount: bigint;
  readonly spent: bigint;
  readonly held: bigint;
  readonly window_start: bigint;
  readonly refused_at: bigint | null;
}

function describe(row: BudgetRow, nowMs: number): KeyBudget {
  const startsAtMs = windowStartMs(row.period, nowMs);
  return {
    period: row.period,
    amount: asNanos(row.amount),
    // A window that is over resets with the next request; until then its sum is of the past.
    spent: asNanos(row.window_start < startsAtMs ? 0n : row.spent),
    held: asNanos(row.held),
    resetsAtMs: windowEndMs(row.period, startsAtMs),
    refusedAtMs: row.refused_at === null || row.refused_at < startsAtMs ? undefined : Number(row.refused_at),
  };
}

function windowEndMs(period: BudgetPeriod, startsAtMs: number): number | undefined {
  switch (period) {
    case 'day':
      return startsAtMs + DAY_MS;
    case 'week':
      return startsAtMs + 7 * DAY_MS;
    case 'month': {
      const start = new Date(startsAtMs);
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1);
    }
    case 'total':
      return undefined;
  }
}

/** The wallet's lock keeps requests of the key from beginning or ending between the sum of its holds and the insert. */
async function lockWallet(transaction: Transaction<Tables>, keyId: string): Promise<void> {
  await transaction
    .updateTable('wallets')
    .set((expression) => ({ debits_pending: expression.ref('debits_pending') }))
    .where('account_id', '=', (where) => where.selectFrom('api_keys').select('account_id').where('id', '=', keyId))
    .execute();
}

interface NewBudget {
  readonly keyId: string;
  readonly period: BudgetPeriod;
  readonly amount: Nanos | undefined;
  readonly held: bigint;
}

async function writeBudget(transaction: Transaction<Tables>, { keyId, period, amount, held }: NewBudget): Promise<void> {
  if (amount === undefined) {
    await transaction.deleteFrom('key_budgets').where('key_id', '=', keyId).where('period', '=', period).execute();
    return;
  }
  const window = BigInt(windowStartMs(period, Date.now()));
  await transaction
    .insertInto('key_budgets')
    .values({ key_id: keyId, period, amount, spent: 0n, held, window_start: window })
    .onConflict((conflict) => conflict.columns(['key_id', 'period']).doUpdateSet({ amount }))
    .execute();
}

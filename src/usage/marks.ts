import { sql, type Kysely } from 'kysely';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import { HOURS } from './grid.ts';

/** A wallet's balance after all transfers before a moment. */
interface Mark {
  readonly beforeMs: number;
  readonly balance: bigint;
}

/**
 * Computes the balance after each hour in which money moved, so that the balance at any statement line is a sum of few transfers.
 * Transfers carry the time they are written, charges the time their request ended, so none is added to a finished hour.
 */
export async function readMarks(
  database: Kysely<Tables>,
  accountId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<Mark[]> {
  const wallet = `wallet:${accountId}`;
  const range = sql`created_at >= ${fromMs} AND created_at < ${toMs}`;
  // The condition on revenue lets the database use the index on credits.
  const { rows } = await sql<{ hour: bigint; sum: bigint }>`
    SELECT created_at - created_at % ${sql.lit(HOURS.lengthMs)} AS hour, SUM(amount) AS sum FROM (
      SELECT created_at, -amount AS amount FROM transfers WHERE debit = ${wallet} AND ${range}
      UNION ALL
      SELECT created_at, amount FROM transfers WHERE credit = ${wallet} AND credit <> 'revenue' AND ${range}) AS movements
    GROUP BY 1 ORDER BY 1`.execute(database);
  let balance = await readLast(database, accountId);
  return rows.map(({ hour, sum }) => ({ beforeMs: Number(hour) + HOURS.lengthMs, balance: (balance += sum) }));
}

/** Stores balance marks, in batches. */
export async function writeMarks(database: Kysely<Tables>, accountId: string, marks: readonly Mark[]): Promise<void> {
  const rows = marks.map(({ beforeMs, balance }) => ({ account_id: accountId, before_at: beforeMs, balance }));
  for (const part of partsOf(rows)) await database.insertInto('balance_marks').values(part).execute();
}

async function readLast(database: Kysely<Tables>, accountId: string): Promise<bigint> {
  const row = await database
    .selectFrom('balance_marks')
    .select('balance')
    .where('account_id', '=', accountId)
    .orderBy('before_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.balance ?? 0n;
}

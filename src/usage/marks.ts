import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOURS } from './grid.ts';

/** What a wallet held when everything before a moment had been booked. */
interface Mark {
  readonly beforeMs: number;
  readonly balance: bigint;
}

/**
 * The balance after each hour of a range in which money moved, so that the balance at any line of a statement is a sum of few movements.
 * Movements are booked at the time at which they are written, charges when their request ended: none is added to what is past.
 */
export async function readMarks(
  database: Kysely<Tables>,
  accountId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<Mark[]> {
  const wallet = `wallet:${accountId}`;
  const range = sql`created_at >= ${fromMs} AND created_at < ${toMs}`;
  // The condition on revenue is what lets the index of credits be used.
  const { rows } = await sql<{ hour: bigint; sum: bigint }>`
    SELECT created_at - created_at % ${sql.lit(HOURS.lengthMs)} AS hour, SUM(amount) AS sum FROM (
      SELECT created_at, -amount AS amount FROM transfers WHERE debit = ${wallet} AND ${range}
      UNION ALL
      SELECT created_at, amount FROM transfers WHERE credit = ${wallet} AND credit <> 'revenue' AND ${range}) AS movements
    GROUP BY 1 ORDER BY 1`.execute(database);
  let balance = await readLast(database, accountId);
  return rows.map(({ hour, sum }) => ({ beforeMs: Number(hour) + HOURS.lengthMs, balance: (balance += sum) }));
}

export async function writeMarks(database: Kysely<Tables>, accountId: string, marks: readonly Mark[]): Promise<void> {
  if (marks.length === 0) return;
  const rows = marks.map(({ beforeMs, balance }) => ({ account_id: accountId, before_at: beforeMs, balance }));
  for (let at = 0; at < rows.length; at += INSERTED_ROWS)
    await database
      .insertInto('balance_marks')
      .values(rows.slice(at, at + INSERTED_ROWS))
      .execute();
}

/** Each row has three parameters, and statements may have some tens of thousands. */
const INSERTED_ROWS = 1000;

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

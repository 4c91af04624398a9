import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { asNanos, type Nanos } from './money.ts';

/** One line of an account's statement. */
export interface StatementLine {
  readonly id: string;
  readonly atMs: number;
  readonly kind: string;
  readonly reason: string;
  /** Positive when the account got money. */
  readonly amount: Nanos;
  /** The balance right after it. */
  readonly balance: Nanos;
}

/** Where the next page begins, with the balance that it begins from. */
export interface StatementCursor {
  readonly atMs: number;
  readonly id: string;
  readonly balance: Nanos;
}

export interface StatementPage {
  readonly lines: readonly StatementLine[];
  readonly next: StatementCursor | undefined;
}

interface Row {
  readonly id: string;
  readonly created_at: bigint;
  readonly kind: string;
  readonly ref: string;
  readonly amount: bigint;
}

/** A page of an account's transfers, newest first, each with the balance it left. Costs the same however long the statement is. */
export async function readStatement(
  database: Kysely<Tables>,
  accountId: string,
  { linesMax, after }: { readonly linesMax: number; readonly after?: StatementCursor | undefined },
): Promise<StatementPage> {
  return database.transaction().execute(async (transaction) => {
    const wallet = await transaction.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow();
    const name = `wallet:${accountId}`;
    const earlier = after === undefined ? sql`1 = 1` : sql`(created_at, id) < (${after.atMs}, ${after.id})`;
    // Each half is sorted and cut by its own index before they are merged.
    const half = (column: 'debit' | 'credit', amount: 'amount' | '-amount') => sql`
      SELECT * FROM (SELECT id, created_at, kind, ref, ${sql.raw(amount)} AS amount FROM transfers
      WHERE ${sql.ref(column)} = ${name} AND ${sql.ref(column)} <> 'revenue' AND ${earlier} ORDER BY created_at DESC, id DESC LIMIT ${linesMax + 1}) AS ${sql.ref(column)}`;
    const { rows } = await sql<Row>`${half('debit', '-amount')} UNION ALL ${half('credit', 'amount')}
      ORDER BY created_at DESC, id DESC LIMIT ${linesMax + 1}`.execute(transaction);
    return toPage(rows, linesMax, after?.balance ?? asNanos(wallet.credits_posted - wallet.debits_posted));
  });
}

function toPage(rows: readonly Row[], linesMax: number, newest: Nanos): StatementPage {
  let balance = newest;
  const lines = rows.slice(0, linesMax).map((row): StatementLine => {
    const line = {
      id: row.id,
      atMs: Number(row.created_at),
      kind: row.kind,
      reason: row.ref,
      amount: asNanos(row.amount),
      balance,
    };
    balance = asNanos(balance - row.amount);
    return line;
  });
  const last = lines.at(-1);
  return { lines, next: rows.length > linesMax && last !== undefined ? { atMs: last.atMs, id: last.id, balance } : undefined };
}

import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
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

export interface StatementQuestion {
  readonly linesMax: number;
  readonly after?: StatementCursor | undefined;
  /** Only movements of these kinds; balances are still those of the account. */
  readonly kinds?: readonly string[] | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

interface Row {
  readonly id: string;
  readonly created_at: bigint;
  readonly kind: string;
  readonly ref: string;
  readonly amount: bigint;
}

/** A moment in an account's books: between two movements. */
interface Position {
  readonly atMs: number;
  readonly id: string;
}

/** A page of an account's transfers, newest first, each with the balance it left. Costs the same however long the statement is. */
export async function readStatement(database: Kysely<Tables>, accountId: string, question: StatementQuestion): Promise<StatementPage> {
  // Wallet and transfers must be of the same moment, or balances would be off by what was charged in between.
  return database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const wallet = new WalletBooks(transaction, accountId);
      const rows = await wallet.readRows(question);
      const start = question.after ?? (await wallet.startOf(question.toMs));
      return question.kinds === undefined ? toPage(rows, question.linesMax, start.balance) : wallet.readBalances(rows, question, start);
    });
}

/** The movements of one wallet, and sums of them. */
class WalletBooks {
  readonly #transaction: Transaction<Tables>;
  readonly #accountId: string;
  readonly #name: string;

  constructor(transaction: Transaction<Tables>, accountId: string) {
    this.#transaction = transaction;
    this.#accountId = accountId;
    this.#name = `wallet:${accountId}`;
  }

  async readRows({ linesMax, after, kinds, fromMs, toMs }: StatementQuestion): Promise<readonly Row[]> {
    const conditions = [
      ...(after === undefined ? [] : [sql`(created_at, id) < (${after.atMs}, ${after.id})`]),
      ...(fromMs === undefined ? [] : [sql`created_at >= ${fromMs}`]),
      ...(toMs === undefined ? [] : [sql`created_at < ${toMs}`]),
      ...(kinds === undefined ? [] : [ofKinds(kinds)]),
    ];
    // Each half is sorted and cut by its own index before they are merged.
    const half = (column: 'debit' | 'credit', amount: 'amount' | '-amount') => sql`
      SELECT * FROM (SELECT id, created_at, kind, ref, ${sql.raw(amount)} AS amount FROM transfers
      WHERE ${this.#side(column)} AND ${sql.join([sql`1 = 1`, ...conditions], sql` AND `)}
      ORDER BY created_at DESC, id DESC LIMIT ${linesMax + 1}) AS ${sql.ref(column)}`;
    const { rows } = await sql<Row>`${half('debit', '-amount')} UNION ALL ${half('credit', 'amount')}
      ORDER BY created_at DESC, id DESC LIMIT ${linesMax + 1}`.execute(this.#transaction);
    return rows;
  }

  /** The end of the books, or of a range of them, and the balance there. */
  async startOf(toMs: number | undefined): Promise<StatementCursor> {
    const wallet = await this.#transaction
      .selectFrom('wallets')
      .selectAll()
      .where('account_id', '=', this.#accountId)
      .executeTakeFirstOrThrow();
    const newest = wallet.credits_posted - wallet.debits_posted;
    if (toMs === undefined) return { atMs: Number.MAX_SAFE_INTEGER, id: '', balance: asNanos(newest) };
    const later = await this.#sumBetween({ atMs: toMs - 1, id: LAST_ID }, { atMs: Number.MAX_SAFE_INTEGER, id: '' });
    return { atMs: toMs, id: '', balance: asNanos(newest - later) };
  }

  /** Between lines of some kinds lie others, whose sums are taken from the index. */
  async readBalances(rows: readonly Row[], { linesMax }: StatementQuestion, start: StatementCursor): Promise<StatementPage> {
    const lines: StatementLine[] = [];
    let place = start;
    for (const row of rows.slice(0, linesMax)) {
      const position = { atMs: Number(row.created_at), id: row.id };
      const balance = place.balance - (await this.#sumBetween(position, place));
      lines.push(toLine(row, asNanos(balance)));
      place = { ...position, balance: asNanos(balance - row.amount) };
    }
    return { lines, next: rows.length > linesMax ? place : undefined };
  }

  /** What the movements between two moments come to. */
  async #sumBetween(earlier: Position, later: Position): Promise<bigint> {
    const range = sql`(created_at, id) > (${earlier.atMs}, ${earlier.id}) AND (created_at, id) < (${later.atMs}, ${later.id})`;
    const half = (column: 'debit' | 'credit') =>
      sql`(SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE ${this.#side(column)} AND ${range})`;
    const { rows } = await sql<{ sum: bigint }>`SELECT ${half('credit')} - ${half('debit')} AS sum`.execute(this.#transaction);
    return rows[0]?.sum ?? 0n;
  }

  /** The second condition is what lets the index of credits be used. */
  #side(column: 'debit' | 'credit'): RawBuilder<unknown> {
    return sql`${sql.ref(column)} = ${this.#name} AND ${sql.ref(column)} <> 'revenue'`;
  }
}

/** Greater than every id. */
const LAST_ID = '\u{10ffff}';

/** Charges for requests are by far the most: what is not one is found by an index without them. */
function ofKinds(kinds: readonly string[]): RawBuilder<unknown> {
  if (kinds.length === 0) return sql`1 = 0`;
  const isListed = sql`kind IN (${sql.join([...kinds])})`;
  return kinds.includes('usage') ? isListed : sql`kind <> 'usage' AND ${isListed}`;
}

function toPage(rows: readonly Row[], linesMax: number, newest: Nanos): StatementPage {
  let balance = newest;
  const lines = rows.slice(0, linesMax).map((row): StatementLine => {
    const line = toLine(row, balance);
    balance = asNanos(balance - row.amount);
    return line;
  });
  const last = lines.at(-1);
  return { lines, next: rows.length > linesMax && last !== undefined ? { atMs: last.atMs, id: last.id, balance } : undefined };
}

function toLine(row: Row, balance: Nanos): StatementLine {
  return { id: row.id, atMs: Number(row.created_at), kind: row.kind, reason: row.ref, amount: asNanos(row.amount), balance };
}

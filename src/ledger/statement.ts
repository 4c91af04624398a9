import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import { readWallet } from './credit.ts';
import { asNanos, type Nanos } from './money.ts';

/** One line of an account's statement. */
export interface StatementLine {
  readonly id: string;
  readonly atMs: number;
  readonly kind: string;
  readonly reason: string;
  /** Positive when the account received money. */
  readonly amount: Nanos;
  /** The balance right after this line. */
  readonly balance: Nanos;
}

/** Where the next page begins, and the balance at that point. */
export interface StatementCursor extends Position {
  readonly balance: Nanos;
}

/** One page of a statement. */
export interface StatementPage {
  readonly lines: readonly StatementLine[];
  readonly next: StatementCursor | undefined;
}

/** Which part of a statement to read. */
export interface StatementQuery {
  readonly linesMax: number;
  readonly after?: StatementCursor | undefined;
  /** Only transfers of these kinds. Balances still count all of them. */
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

/** A point between two transfers of an account. */
interface Position {
  readonly atMs: number;
  readonly id: string;
}

/** Charges carry their node's clock and wait for their transaction, so a line may be inserted behind newer ones, but never by an hour. */
const LATE_MS = HOUR_MS;

/** Returns a page of an account's transfers, newest first, each with the balance after it. Takes as long for any statement length. */
export async function readStatement(database: Kysely<Tables>, accountId: string, query: StatementQuery): Promise<StatementPage> {
  return withBooks(database, accountId, async (books) => {
    const rows = await books.readRows(query);
    const shown = rows.slice(0, query.linesMax);
    const balances = await books.readBalances(shown, query);
    const lines = shown.map((row, index) => toLine(row, asNanos(balances[index] ?? 0n)));
    const last = lines.at(-1);
    if (last === undefined || rows.length <= query.linesMax) return { lines, next: undefined };
    return { lines, next: { atMs: last.atMs, id: last.id, balance: asNanos(last.balance - last.amount) } };
  });
}

/** Returns the balance right after one transfer. */
export async function readBalanceAfter(database: Kysely<Tables>, accountId: string, position: Position): Promise<Nanos> {
  return withBooks(database, accountId, async (books) => asNanos((await books.readBalancesAt([position]))[0] ?? 0n));
}

/** Reads wallet and transfers from one snapshot, or balances would be off by the charges in between. */
async function withBooks<Result>(
  database: Kysely<Tables>,
  accountId: string,
  read: (books: WalletBooks) => Promise<Result>,
): Promise<Result> {
  return database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((transaction) => read(new WalletBooks(transaction, accountId)));
}

/** The transfers of one wallet, and their sums. */
class WalletBooks {
  readonly #transaction: Transaction<Tables>;
  readonly #accountId: string;
  readonly #name: string;

  constructor(transaction: Transaction<Tables>, accountId: string) {
    this.#transaction = transaction;
    this.#accountId = accountId;
    this.#name = `wallet:${accountId}`;
  }

  async readRows({ linesMax, after, kinds, fromMs, toMs }: StatementQuery): Promise<readonly Row[]> {
    const conditions = [
      ...(after === undefined ? [] : [sql`(created_at, id) < (${after.atMs}, ${after.id})`]),
      ...(fromMs === undefined ? [] : [sql`created_at >= ${fromMs}`]),
      ...(toMs === undefined ? [] : [sql`created_at < ${toMs}`]),
      ...(kinds === undefined ? [] : [ofKinds(kinds)]),
    ];
    // Each half is sorted and limited through its own index before they are merged.
    const half = (column: 'debit' | 'credit', amount: 'amount' | '-amount') => sql`
      SELECT * FROM (SELECT id, created_at, kind, ref, ${sql.raw(amount)} AS amount FROM transfers
      WHERE ${this.#side(column)} AND ${sql.join([sql`1 = 1`, ...conditions], sql` AND `)}
      ORDER BY created_at DESC, id DESC LIMIT ${linesMax + 1}) AS ${sql.ref(column)}`;
    const { rows } = await sql<Row>`${half('debit', '-amount')} UNION ALL ${half('credit', 'amount')}
      ORDER BY created_at DESC, id DESC LIMIT ${linesMax + 1}`.execute(this.#transaction);
    return rows;
  }

  /** Returns the balance after each line. Lines are consecutive unless only some kinds were requested. */
  async readBalances(rows: readonly Row[], query: StatementQuery): Promise<bigint[]> {
    const [newest] = rows;
    if (newest === undefined) return [];
    if (query.kinds !== undefined) return this.readBalancesAt(rows.map(positionOf));
    let balance = await this.#readFirst(positionOf(newest), query);
    return rows.map(({ amount }) => {
      const left = balance;
      balance = left - amount;
      return left;
    });
  }

  /** Returns the balance after a page's newest line. The cursor's balance is used once no late line can be inserted behind it. */
  async #readFirst(newest: Position, { after, toMs }: StatementQuery): Promise<bigint> {
    if (after !== undefined) return after.atMs < Date.now() - LATE_MS ? after.balance : this.#readBack(newest);
    return toMs === undefined ? this.#readNewest() : ((await this.readBalancesAt([newest]))[0] ?? 0n);
  }

  /** Returns the current balance minus all transfers after a line. */
  async #readBack({ atMs, id }: Position): Promise<bigint> {
    const half = (column: 'debit' | 'credit') =>
      sql`(SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE ${this.#side(column)} AND (created_at, id) > (${atMs}, ${id}))`;
    const { rows } = await sql<{ sum: bigint }>`SELECT ${half('credit')} - ${half('debit')} AS sum`.execute(this.#transaction);
    return (await this.#readNewest()) - (rows[0]?.sum ?? 0n);
  }

  async #readNewest(): Promise<bigint> {
    return (await readWallet(this.#transaction, this.#accountId)).balance;
  }

  /**
   * Returns the balance at each position, newest first. Each starts from the previous balance or a mark between them and adds the transfers
   * since, so nothing is added up twice.
   */
  async readBalancesAt(positions: readonly Position[]): Promise<bigint[]> {
    const oldestFirst = positions.toReversed();
    const marks = await this.#readMarks(oldestFirst);
    const stretches = oldestFirst.map((to, index): Stretch => {
      const [mark, former] = [marks[index], oldestFirst[index - 1]];
      const isNearer = mark !== undefined && (former === undefined || former.atMs < mark.beforeMs);
      return isNearer ? { from: { atMs: mark.beforeMs, id: '' }, to, balance: mark.balance } : { from: former ?? BEGINNING, to };
    });
    const sums = await this.#sumUp(stretches);
    let balance = 0n;
    return stretches.map((stretch, index) => (balance = (stretch.balance ?? balance) + (sums[index] ?? 0n))).toReversed();
  }

  /** Returns, for each position, the last balance mark not after it; see usage/marks.ts. */
  async #readMarks(positions: readonly Position[]): Promise<(Mark | undefined)[]> {
    const last = sql`SELECT before_at FROM balance_marks WHERE account_id = ${this.#accountId} AND before_at <= p.to_at
      ORDER BY before_at DESC LIMIT 1`;
    const { rows } = await sql<{ n: bigint; before_at: bigint; balance: bigint }>`
      WITH ${listed(positions.map((to) => ({ from: BEGINNING, to })))}, found AS (SELECT p.n, (${last}) AS before_at FROM p)
      SELECT found.n, m.before_at, m.balance FROM found
      JOIN balance_marks m ON m.account_id = ${this.#accountId} AND m.before_at = found.before_at`.execute(this.#transaction);
    const byNumber = new Map(rows.map((row) => [Number(row.n), { beforeMs: Number(row.before_at), balance: row.balance }]));
    return positions.map((_, index) => byNumber.get(index));
  }

  /** Sums the transfers of each stretch. */
  async #sumUp(stretches: readonly Stretch[]): Promise<bigint[]> {
    const range = sql`(created_at, id) > (p.from_at, p.from_id) AND (created_at, id) <= (p.to_at, p.to_id)`;
    const half = (column: 'debit' | 'credit') =>
      sql`(SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE ${this.#side(column)} AND ${range})`;
    const { rows } = await sql<{ n: bigint; sum: bigint }>`
      WITH ${listed(stretches)} SELECT p.n, ${half('credit')} - ${half('debit')} AS sum FROM p`.execute(this.#transaction);
    const byNumber = new Map(rows.map(({ n, sum }) => [Number(n), sum]));
    return stretches.map((_, index) => byNumber.get(index) ?? 0n);
  }

  /** The second condition lets the database use the index on credits. */
  #side(column: 'debit' | 'credit'): RawBuilder<unknown> {
    return sql`${sql.ref(column)} = ${this.#name} AND ${sql.ref(column)} <> 'revenue'`;
  }
}

/** The transfers after one position, up to and including another. */
interface Stretch {
  readonly from: Position;
  readonly to: Position;
  /** The balance at its start. If missing, the balance at the end of the previous stretch. */
  readonly balance?: bigint;
}

interface Mark {
  readonly beforeMs: number;
  readonly balance: bigint;
}

/** Before the first transfer, when the balance was zero. */
const BEGINNING: Position = { atMs: -1, id: '' };

/** Renders stretches as a table `p`. */
function listed(stretches: readonly Stretch[]): RawBuilder<unknown> {
  const rows = stretches.map(({ from, to }, n) => {
    const [fromMs, toMs] = [from, to].map(({ atMs }) => sql`CAST(${atMs} AS BIGINT)`);
    return sql`(${sql.lit(n)}, ${fromMs}, ${from.id}, ${toMs}, ${to.id})`;
  });
  return sql`p (n, from_at, from_id, to_at, to_id) AS (VALUES ${sql.join(rows)})`;
}

/** Most transfers are charges for requests, so other kinds are found through an index that leaves charges out. */
function ofKinds(kinds: readonly string[]): RawBuilder<unknown> {
  if (kinds.length === 0) return sql`1 = 0`;
  const isListed = sql`kind IN (${sql.join([...kinds])})`;
  return kinds.includes('usage') ? isListed : sql`kind <> 'usage' AND ${isListed}`;
}

function positionOf(row: Row): Position {
  return { atMs: Number(row.created_at), id: row.id };
}

function toLine(row: Row, balance: Nanos): StatementLine {
  return { id: row.id, atMs: Number(row.created_at), kind: row.kind, reason: row.ref, amount: asNanos(row.amount), balance };
}

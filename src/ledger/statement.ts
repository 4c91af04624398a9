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
  /** Positive when the account got money. */
  readonly amount: Nanos;
  /** The balance right after it. */
  readonly balance: Nanos;
}

/** Where the next page begins, with the balance that it begins from. */
export interface StatementCursor extends Position {
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

/** Charges have the time of their node's clock and wait for their transaction, so a line may be written behind newer ones; never by an hour. */
const LATE_MS = HOUR_MS;

/** A page of an account's transfers, newest first, each with the balance it left. Costs the same however long the statement is. */
export async function readStatement(database: Kysely<Tables>, accountId: string, question: StatementQuestion): Promise<StatementPage> {
  return withBooks(database, accountId, async (books) => {
    const rows = await books.readRows(question);
    const shown = rows.slice(0, question.linesMax);
    const balances = await books.readBalances(shown, question);
    const lines = shown.map((row, index) => toLine(row, asNanos(balances[index] ?? 0n)));
    const last = lines.at(-1);
    if (last === undefined || rows.length <= question.linesMax) return { lines, next: undefined };
    return { lines, next: { atMs: last.atMs, id: last.id, balance: asNanos(last.balance - last.amount) } };
  });
}

/** The balance right after one movement of an account. */
export async function readBalanceAfter(database: Kysely<Tables>, accountId: string, position: Position): Promise<Nanos> {
  return withBooks(database, accountId, async (books) => asNanos((await books.readBalancesAt([position]))[0] ?? 0n));
}

/** Wallet and transfers must be of the same moment, or balances would be off by what was charged in between. */
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

  /** The balance after each of some lines, of which none is left out in between unless only some kinds are asked for. */
  async readBalances(rows: readonly Row[], question: StatementQuestion): Promise<bigint[]> {
    const [newest] = rows;
    if (newest === undefined) return [];
    if (question.kinds !== undefined) return this.readBalancesAt(rows.map(positionOf));
    let balance = await this.#readFirst(positionOf(newest), question);
    return rows.map(({ amount }) => {
      const left = balance;
      balance = left - amount;
      return left;
    });
  }

  /** The balance after the newest line of a page. What the page before it left counts once nothing is added behind that any more. */
  async #readFirst(newest: Position, { after, toMs }: StatementQuestion): Promise<bigint> {
    if (after !== undefined) return after.atMs < Date.now() - LATE_MS ? after.balance : this.#readBack(newest);
    return toMs === undefined ? this.#readNewest() : ((await this.readBalancesAt([newest]))[0] ?? 0n);
  }

  /** The balance of now, without what came after a line. */
  async #readBack({ atMs, id }: Position): Promise<bigint> {
    const half = (column: 'debit' | 'credit') =>
      sql`(SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE ${this.#side(column)} AND (created_at, id) > (${atMs}, ${id}))`;
    const { rows } = await sql<{ sum: bigint }>`SELECT ${half('credit')} - ${half('debit')} AS sum`.execute(this.#transaction);
    return (await this.#readNewest()) - (rows[0]?.sum ?? 0n);
  }

  async #readNewest(): Promise<bigint> {
    return (await readWallet(this.#transaction, this.#accountId)).balance;
  }

  /** Newest first. Each is what the one before it left, or a mark between them, and the sum of the movements since: nothing is added up twice. */
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

  /** The last mark that is not after a moment, for each of some; see usage/marks.ts. */
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

  /** What the movements of each stretch come to. */
  async #sumUp(stretches: readonly Stretch[]): Promise<bigint[]> {
    const range = sql`(created_at, id) > (p.from_at, p.from_id) AND (created_at, id) <= (p.to_at, p.to_id)`;
    const half = (column: 'debit' | 'credit') =>
      sql`(SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE ${this.#side(column)} AND ${range})`;
    const { rows } = await sql<{ n: bigint; sum: bigint }>`
      WITH ${listed(stretches)} SELECT p.n, ${half('credit')} - ${half('debit')} AS sum FROM p`.execute(this.#transaction);
    const byNumber = new Map(rows.map(({ n, sum }) => [Number(n), sum]));
    return stretches.map((_, index) => byNumber.get(index) ?? 0n);
  }

  /** The second condition is what lets the index of credits be used. */
  #side(column: 'debit' | 'credit'): RawBuilder<unknown> {
    return sql`${sql.ref(column)} = ${this.#name} AND ${sql.ref(column)} <> 'revenue'`;
  }
}

/** Movements after one moment, up to and with another. */
interface Stretch {
  readonly from: Position;
  readonly to: Position;
  /** The balance at its beginning; that at the end of the stretch before, where it is not given. */
  readonly balance?: bigint;
}

interface Mark {
  readonly beforeMs: number;
  readonly balance: bigint;
}

/** Before every movement, when there was nothing. */
const BEGINNING: Position = { atMs: -1, id: '' };

/** Stretches of the books as a table `p`. */
function listed(stretches: readonly Stretch[]): RawBuilder<unknown> {
  const rows = stretches.map(({ from, to }, n) => {
    const [fromMs, toMs] = [from, to].map(({ atMs }) => sql`CAST(${atMs} AS BIGINT)`);
    return sql`(${sql.lit(n)}, ${fromMs}, ${from.id}, ${toMs}, ${to.id})`;
  });
  return sql`p (n, from_at, from_id, to_at, to_id) AS (VALUES ${sql.join(rows)})`;
}

/** Charges for requests are by far the most: what is not one is found by an index without them. */
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

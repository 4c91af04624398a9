import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { jsonRows } from '../database/dialect.ts';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';
import { HOUR_MS } from '../durations.ts';
import { ROLLUP_SUMS } from '../ledger/checks.ts';
import { COLUMN_OF, membersOf, historyDimensionsOf, type HistoryDimension } from './dimensions.ts';
import { floorToGrid, gridName, HOURS, type Grid } from './grid.ts';
import { readMarks, writeMarks } from './marks.ts';
import type { RollupSum } from './sums.ts';
import type { Span } from './zone.ts';

/** The time between a request's arrival and its hold: reading the body, plus clock differences between nodes. Never an hour. */
const SETTLED_AFTER_MS = HOUR_MS;
/** Small enough to go unnoticed, however busy the account: at least six hours, or one day, are summed at a time. */
export const CHUNK_MS = 6 * HOUR_MS;
/** Quiet accounts take longer chunks, up to this many quarter hours (by key, model and provider) and requests. */
const CHUNK_ROWS_MAX = 250;
const CHUNK_REQUESTS_MAX = 5000n;

/** The result of one turn: `behind` when there is more to sum. */
export type Advance = 'behind' | 'done';

/** Whose history to sum, and on which grid. */
export interface Work {
  readonly accountId: string;
  readonly grid: Grid;
  readonly nowMs: number;
}

/**
 * Sums the next part of an account's history on a grid, for reports to read instead of quarter hours. A time is history once nothing
 * can be added to it: it ended long enough ago that every request of that time has its hold, and no such hold is open. A settlement
 * needs a hold, so from then on roll-ups and charges do not change. That is why they can be summed before the write lock is taken:
 * charges never wait for a sum.
 */
export async function advanceHistory(database: OpenDatabase, { accountId, grid, nowMs }: Work): Promise<Advance> {
  const { kysely } = database;
  const historyEndMs = floorToGrid(await findHistoryEnd(kysely, accountId, nowMs), grid);
  const untilMs = await dropFutureSums(kysely, { accountId, grid, nowMs }, historyEndMs);
  const chunk = await findChunk(kysely, { accountId, grid }, { fromMs: untilMs, toMs: historyEndMs });
  if (chunk === undefined) return 'done';
  const { fromMs, toMs } = chunk;
  const rows = toRows(await readCells(kysely, accountId, { grid, fromMs, toMs }), grid);
  const marks = gridName(grid) === gridName(HOURS) ? await readMarks(kysely, accountId, { fromMs: untilMs, toMs }) : [];
  await writeSums(database, async (transaction) => {
    // Another node may have done the same in the meantime. Then nothing is left to do.
    if (!(await advanceSummedUntil(transaction, { accountId, grid, nowMs }, { fromMs: untilMs, toMs }))) return;
    await insertRows({ ...database, kysely: transaction }, { accountId, grid }, rows);
    await writeMarks(transaction, accountId, marks);
  });
  return toMs < historyEndMs ? 'behind' : 'done';
}

/** Returns how far an account's history is summed on a grid. */
export async function readSummedUntil(database: Kysely<Tables>, accountId: string, grid: Grid): Promise<number> {
  const row = await database
    .selectFrom('usage_past_until')
    .select('until')
    .where('account_id', '=', accountId)
    .where('grid', '=', gridName(grid))
    .executeTakeFirst();
  return Number(row?.until ?? 0);
}

/**
 * Returns how far history is summed. If that is in the future, the sums from `fromMs` on are dropped first: a clock that was ahead made
 * them, and the requests of that time would be missing from reports until it is over.
 */
export async function dropFutureSums(database: Kysely<Tables>, work: Work, fromMs: number): Promise<number> {
  const { accountId, grid, nowMs } = work;
  const untilMs = await readSummedUntil(database, accountId, grid);
  if (untilMs <= nowMs) return untilMs;
  const isHours = gridName(grid) === gridName(HOURS);
  await database.transaction().execute(async (transaction) => {
    if (!(await advanceSummedUntil(transaction, work, { fromMs: untilMs, toMs: fromMs }))) return;
    const sums = transaction.deleteFrom('usage_past').where('account_id', '=', accountId).where('grid', '=', gridName(grid));
    await sums.where('start_at', '>=', BigInt(fromMs)).execute();
    const marks = transaction.deleteFrom('balance_marks').where('account_id', '=', accountId);
    if (isHours) await marks.where('before_at', '>', BigInt(fromMs)).execute();
  });
  return fromMs;
}

/** Returns the moment before which nothing can change any more, for one account or for all. */
export async function findHistoryEnd(database: Kysely<Tables>, accountId: string | undefined, nowMs: number): Promise<number> {
  const query = database.selectFrom('holds').select(({ fn }) => fn.min('created_at').as('created_at'));
  const oldest = await (accountId === undefined ? query : query.where('account_id', '=', accountId)).executeTakeFirst();
  const settledMs = nowMs - SETTLED_AFTER_MS;
  return oldest?.created_at === null || oldest?.created_at === undefined ? settledMs : Math.min(settledMs, Number(oldest.created_at));
}

/** Writes sums in a transaction. A power cut may lose them: they are made again, because how far they reach is lost with them. */
export async function writeSums(database: OpenDatabase, write: (transaction: Transaction<Tables>) => Promise<void>): Promise<void> {
  await unflushed(database, (connection) => connection.transaction().execute(write));
}

/**
 * Finds the next usage to sum. Gaps are skipped, however long the account was idle, and what is left of a quiet account is one chunk: most
 * of many accounts are quiet, and each chunk is a transaction.
 */
async function findChunk(database: Kysely<Tables>, { accountId, grid }: Omit<Work, 'nowMs'>, span: Span): Promise<Span | undefined> {
  const rows = await database
    .selectFrom('usage_rollups')
    .select(['quarter_hour', 'requests'])
    .where('account_id', '=', accountId)
    .where('quarter_hour', '>=', BigInt(span.fromMs))
    .where('quarter_hour', '<', BigInt(span.toMs))
    .orderBy('quarter_hour')
    .limit(CHUNK_ROWS_MAX)
    .execute();
  const [first] = rows;
  if (first === undefined) return undefined;
  let requests = 0n;
  const tooMany = rows.find((row) => (requests += row.requests) > CHUNK_REQUESTS_MAX) ?? rows[CHUNK_ROWS_MAX - 1];
  const fromMs = floorToGrid(Number(first.quarter_hour), grid);
  const smallestMs = fromMs + Math.max(grid.lengthMs, CHUNK_MS);
  const toMs = tooMany === undefined ? span.toMs : Math.max(smallestMs, floorToGrid(Number(tooMany.quarter_hour), grid));
  return { fromMs, toMs: Math.min(toMs, span.toMs) };
}

/** The sums of one key, model and provider in one hour or day. */
export type SummedCell = Readonly<Record<RollupSum, bigint>> & {
  readonly start_at: bigint;
  readonly key_id: string;
  readonly model: string;
  readonly provider: string;
};

async function readCells(database: Kysely<Tables>, accountId: string, { grid, fromMs, toMs }: Span & { readonly grid: Grid }) {
  const { rows } = await sql<SummedCell>`SELECT ${startIn(grid)} AS start_at, key_id, model, provider, ${ADDED_UP} FROM usage_rollups
    WHERE account_id = ${accountId} AND quarter_hour >= ${fromMs} AND quarter_hour < ${toMs} GROUP BY 1, 2, 3, 4`.execute(database);
  return rows;
}

/** Sums every column of rows that look like roll-ups. */
export const ADDED_UP = sql.join(ROLLUP_SUMS.map((name) => sql`SUM(${sql.ref(name)}) AS ${sql.ref(name)}`));

/** Returns the start of the grid's hour or day that contains a quarter hour, as SQL. */
export function startIn({ lengthMs, beginsMs }: Grid): RawBuilder<unknown> {
  return sql`quarter_hour - (quarter_hour - ${sql.lit(beginsMs)}) % ${sql.lit(lengthMs)}`;
}

const KEY_COLUMNS = ['key_id', 'model', 'provider'] as const;

/** Dimension, start, key, model, provider and the sums. All text, because sums may exceed the range of JSON numbers. */
type Row = readonly string[];

function toRows(cells: readonly SummedCell[], grid: Grid): Row[] {
  return historyDimensionsOf(grid).flatMap((dimension) => sumByDimension(cells, dimension));
}

/** Sums cells by a grouping. Columns outside the grouping stay empty. */
export function sumByDimension(cells: readonly SummedCell[], dimension: HistoryDimension): Row[] {
  const columns: ReadonlySet<string> = new Set(membersOf(dimension).map((member) => COLUMN_OF[member]));
  const keyOf = (cell: SummedCell): string[] => KEY_COLUMNS.map((column) => (columns.has(column) ? cell[column] : ''));
  const groups = Map.groupBy(cells, (cell) => JSON.stringify([cell.start_at.toString(), ...keyOf(cell)]));
  return [...groups].map(([place, group]) => {
    const sums = ROLLUP_SUMS.map((name) => group.reduce((sum, cell) => sum + cell[name], 0n).toString());
    return [dimension, ...(JSON.parse(place) as string[]), ...sums];
  });
}

/** Records how far history is summed, which may be less than before. Returns false if another node has done so in the meantime. */
export async function advanceSummedUntil(
  transaction: Transaction<Tables>,
  { accountId, grid, nowMs }: Work,
  { fromMs, toMs }: Span,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('usage_past_until')
    .set({ until: toMs })
    .where('account_id', '=', accountId)
    .where('grid', '=', gridName(grid))
    .where('until', '=', BigInt(fromMs))
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return true;
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('usage_past_until')
    .values({ account_id: accountId, grid: gridName(grid), until: toMs, asked_at: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

const COLUMNS = ['dimension', 'start_at', 'key_id', 'model', 'provider', ...ROLLUP_SUMS];
const TEXTS: ReadonlySet<string> = new Set(['dimension', 'key_id', 'model', 'provider']);

/** Inserts historical sums in batches. */
export async function insertRows(database: OpenDatabase, place: Omit<Work, 'nowMs'>, rows: readonly Row[]): Promise<void> {
  for (const part of partsOf(rows)) await insertSome(database, place, part);
}

async function insertSome(
  { kysely, dialect }: OpenDatabase,
  { accountId, grid }: Omit<Work, 'nowMs'>,
  rows: readonly Row[],
): Promise<void> {
  const cells = COLUMNS.map((name, index): RawBuilder<unknown> => {
    const cell = sql`value ->> ${sql.lit(index)}`;
    return TEXTS.has(name) ? cell : sql`CAST(${cell} AS BIGINT)`;
  });
  await sql`INSERT INTO usage_past (account_id, grid, ${sql.join(COLUMNS.map((name) => sql.ref(name)))})
    SELECT ${accountId}, ${gridName(grid)}, ${sql.join(cells)} FROM ${jsonRows(dialect, rows)} AS row_of`.execute(kysely);
}

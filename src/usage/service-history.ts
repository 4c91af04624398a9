import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { jsonRows } from '../database/dialect.ts';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, QUARTER_HOUR_MS } from '../durations.ts';
import { idAt, timeOf } from '../ids.ts';
import { ROLLUP_SUMS } from '../ledger/checks.ts';
import { ceilToGrid, floorToGrid, gridName, type Grid } from './grid.ts';
import {
  ADDED_UP,
  dropFutureSums,
  sumByDimension,
  CHUNK_MS,
  findHistoryEnd,
  insertRows,
  advanceSummedUntil,
  startIn,
  writeSums,
  type Advance,
  type SummedCell,
} from './history.ts';
import type { Span } from './zone.ts';

/** The account id under which sums of all accounts together are stored. */
export const WHOLE_SERVICE = '';

/** How far back sums of the whole service reach: a month, plus what time zones add to it. */
export const KEPT_MS = 40 * DAY_MS;
/** Hourly sums of single accounts are only needed for the day that is not over. */
export const HOURS_KEPT_MS = 3 * DAY_MS;

/**
 * Sums the next part of the history of all accounts on a grid: by model and provider, and by account. history.ts explains what counts as
 * history. Counts the requests themselves in order of their ids, which is order of time: roll-ups are ordered by account.
 */
export async function advanceService(
  database: OpenDatabase,
  { grid, nowMs }: { readonly grid: Grid; readonly nowMs: number },
): Promise<Advance> {
  const { kysely } = database;
  const work = { accountId: WHOLE_SERVICE, grid, nowMs };
  const historyEndMs = floorToGrid(await findHistoryEnd(kysely, undefined, nowMs), grid);
  // All sums are dropped then, because the clock that was ahead has deleted those it took for old.
  const untilMs = await dropFutureSums(kysely, work, floorToGrid(nowMs - KEPT_MS, grid));
  const beginMs = Math.max(untilMs, floorToGrid(nowMs - KEPT_MS, grid));
  const keptMs = await findKept(kysely);
  const firstMs = beginMs < keptMs ? beginMs : await findFirst(kysely, beginMs);
  if (firstMs === undefined || firstMs >= historyEndMs) return 'done';
  const fromMs = floorToGrid(firstMs, grid);
  // The part that only roll-ups know is summed in one go, because any part of it reads all of them.
  const endMs = Math.max(fromMs + Math.max(grid.lengthMs, CHUNK_MS), ceilToGrid(keptMs, grid));
  const span = { fromMs, toMs: Math.min(endMs, historyEndMs), keptMs };
  const rows = sumByDimension(await readCells(kysely, grid, span), 'model_provider');
  const accounts = await readAccounts(kysely, grid, { ...span, fromMs: Math.max(fromMs, keptFrom(grid, nowMs)) });
  await insertAccounts(database, grid, accounts);
  await writeSums(database, async (transaction) => {
    // Another node may have done the same in the meantime. Then nothing is left to do.
    if (!(await advanceSummedUntil(transaction, work, { fromMs: untilMs, toMs: span.toMs }))) return;
    await insertRows({ ...database, kysely: transaction }, work, rows);
  });
  await forget(kysely, grid, nowMs);
  return span.toMs < historyEndMs ? 'behind' : 'done';
}

/** A span of requests, and the time from which usage rows are complete. */
interface Counted extends Span {
  readonly keptMs: number;
}

/** Selects all requests of a span as a table like the roll-ups. Where rows were deleted, all roll-ups are read instead: slow, but rare. */
export function countedRows({ fromMs, toMs, keptMs }: Counted): RawBuilder<unknown> {
  const range = sql`request_id >= ${idAt('req', Math.max(fromMs, keptMs))} AND request_id < ${idAt('req', toMs)}`;
  const rows = sql`SELECT created_at - created_at % ${sql.lit(QUARTER_HOUR_MS)} AS quarter_hour, account_id, model, provider, 1 AS requests,
    CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END AS errors, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
    reasoning_tokens, cost, COALESCE(first_token_ms, 0) AS first_token_ms, CASE WHEN first_token_ms IS NULL THEN 0 ELSE 1 END AS first_token_count,
    duration_ms FROM usage WHERE ${range}`;
  if (fromMs >= keptMs) return rows;
  const sums = sql.join(ROLLUP_SUMS.map((name) => sql.ref(name)));
  return sql`${rows} UNION ALL SELECT quarter_hour, account_id, model, provider, ${sums} FROM usage_rollups
    WHERE quarter_hour >= ${fromMs} AND quarter_hour < ${Math.min(keptMs, toMs)}`;
}

/**
 * Returns the time from which usage rows are complete; 0 if none was ever deleted. Charges outlive the usage rows of their requests, under
 * the same ids.
 */
export async function findKept(database: Kysely<Tables>): Promise<number> {
  const row = await database.selectFrom('usage').select('request_id as id').orderBy('request_id').limit(1).executeTakeFirst();
  const charge = await database.selectFrom('transfers').select('id').where('id', '>=', 'req_').orderBy('id').limit(1).executeTakeFirst();
  if (charge === undefined || !charge.id.startsWith('req_')) return 0;
  if (row === undefined) return Number.MAX_SAFE_INTEGER;
  return charge.id < row.id ? Math.ceil(timeOf(row.id) / QUARTER_HOUR_MS) * QUARTER_HOUR_MS : 0;
}

/** Finds the first request to sum. Gaps are skipped. */
async function findFirst(database: Kysely<Tables>, fromMs: number): Promise<number | undefined> {
  const row = await database
    .selectFrom('usage')
    .select('request_id')
    .where('request_id', '>=', idAt('req', fromMs))
    .orderBy('request_id')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : timeOf(row.request_id);
}

async function readCells(database: Kysely<Tables>, grid: Grid, span: Counted): Promise<readonly SummedCell[]> {
  const { rows } = await sql<SummedCell>`SELECT ${startIn(grid)} AS start_at, '' AS key_id, model, provider, ${ADDED_UP}
    FROM (${countedRows(span)}) AS counted GROUP BY 1, 2, 3, 4`.execute(database);
  return rows;
}

interface AccountCell {
  readonly start_at: bigint;
  readonly account_id: string;
  readonly requests: bigint;
  readonly cost: bigint;
}

/** Returns the time from which sums of single accounts are kept. */
function keptFrom(grid: Grid, nowMs: number): number {
  return floorToGrid(nowMs - (grid.length === 'day' ? KEPT_MS : HOURS_KEPT_MS), grid);
}

async function readAccounts(database: Kysely<Tables>, grid: Grid, span: Counted): Promise<readonly AccountCell[]> {
  const { rows } = await sql<AccountCell>`SELECT ${startIn(grid)} AS start_at, account_id, SUM(requests) AS requests, SUM(cost) AS cost
    FROM (${countedRows(span)}) AS counted GROUP BY 1, 2`.execute(database);
  return rows;
}

/**
 * Inserts in batches, because charges wait for each. The sums are not read until the end of history is moved past them, and a second node
 * finds the same rows.
 */
async function insertAccounts({ kysely, dialect }: OpenDatabase, grid: Grid, cells: readonly AccountCell[]): Promise<void> {
  for (const part of partsOf(cells)) {
    const rows = part.map((cell) => [cell.account_id, ...[cell.start_at, cell.requests, cell.cost].map(String)]);
    await sql`INSERT INTO account_past (grid, account_id, start_at, requests, cost)
      SELECT ${gridName(grid)}, value ->> 0, CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT)
      FROM ${jsonRows(dialect, rows)} AS row_of WHERE true
      ON CONFLICT (grid, account_id, start_at) DO UPDATE SET requests = excluded.requests, cost = excluded.cost`.execute(kysely);
  }
}

async function forget(database: Kysely<Tables>, grid: Grid, nowMs: number): Promise<void> {
  const name = gridName(grid);
  await database
    .deleteFrom('account_past')
    .where('grid', '=', name)
    .where('start_at', '<', BigInt(keptFrom(grid, nowMs)))
    .execute();
  await database
    .deleteFrom('usage_past')
    .where('account_id', '=', WHOLE_SERVICE)
    .where('grid', '=', name)
    .where('dimension', '=', 'model_provider')
    .where('start_at', '<', BigInt(floorToGrid(nowMs - KEPT_MS, grid)))
    .execute();
}

import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import type { PageOf } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { QUARTER_HOUR_MS } from '../durations.ts';
import { idAt, timeOf } from '../ids.ts';
import { ceilToGrid, gridName, HOURS } from './grid.ts';
import { readSummedUntil } from './history.ts';
import { isRolledUp, toCondition, toRollupCondition, type RequestFilter } from './request-filter.ts';
import { WHOLE_SERVICE, KEPT_MS } from './service-history.ts';

/** One request as stored by the ledger. */
export type RequestRow = Selectable<Tables['usage']>;

interface RequestsQuery {
  /** Undefined for all accounts. */
  readonly accountId: string | undefined;
  readonly filter: RequestFilter;
  /** Only requests with a smaller id, which came in earlier. */
  readonly before?: string | undefined;
  readonly rowsMax: number;
}

/** A page, newest first. */
export interface RequestPage extends PageOf<RequestRow> {
  /** True when the page is not full because the search reached its limit. Continue from `next` to search further. */
  readonly isCutShort: boolean;
}

/** A page must load quickly, so a rare match is searched for in this many rows at a time. */
const SCANNED_ROWS_MAX = 15_000;
const CHUNK_ROWS = 3000;
/** Small enough that garbage is collected in time: with 2,000 rows, twice as much memory is in use. */
const EXPORT_ROWS = 500;
const EXPORT_SCANNED_ROWS = 2000;

/**
 * Reads the requests that match a filter, newest first, page by page. Ids grow with time, so a time range is an index range. Whatever
 * the filter, a page reads a limited number of rows. If matches are so rare that too few were found among them, the page is marked as
 * cut short.
 */
export async function readRequests(database: OpenDatabase, query: RequestsQuery): Promise<RequestPage> {
  const { filter, rowsMax, before } = query;
  if (filter.requestId !== undefined) return { rows: await findOne(database, query), next: undefined, isCutShort: false };
  const found: RequestRow[] = [];
  let cursor: string | undefined = before ?? idAt('req', filter.span.toMs);
  for (let scanned = 0; scanned < SCANNED_ROWS_MAX && cursor !== undefined && found.length <= rowsMax; scanned += CHUNK_ROWS) {
    const chunk = await scan(database, query, { cursor, rowsMax: rowsMax + 1 - found.length, scannedMax: CHUNK_ROWS });
    found.push(...chunk.rows);
    cursor = chunk.next;
  }
  if (found.length <= rowsMax) return { rows: found, next: cursor, isCutShort: cursor !== undefined };
  const rows = found.slice(0, rowsMax);
  return { rows, next: rows.at(-1)?.request_id, isCutShort: false };
}

/** Reads all matching requests in pieces, each only when it is needed, so that memory does not grow with their number. */
export async function* exportRequests(
  database: OpenDatabase,
  { accountId, filter }: Pick<RequestsQuery, 'accountId' | 'filter'>,
): AsyncGenerator<readonly RequestRow[]> {
  if (filter.requestId !== undefined) {
    yield await findOne(database, { accountId, filter });
    return;
  }
  let before: string | undefined = idAt('req', filter.span.toMs);
  while (before !== undefined) {
    const piece: PageOf<RequestRow> = await readExportPiece(database, { accountId, filter, before });
    if (piece.rows.length > 0) yield piece.rows;
    before = piece.next;
  }
}

/** Reads the next part of an export: the requests before an id, or the first part. It may contain no match although more follow. */
export async function readExportPiece(
  database: OpenDatabase,
  { accountId, filter, before = idAt('req', filter.span.toMs) }: Omit<RequestsQuery, 'rowsMax'>,
): Promise<PageOf<RequestRow>> {
  return scan(database, { accountId, filter }, { cursor: before, rowsMax: EXPORT_ROWS, scannedMax: EXPORT_SCANNED_ROWS });
}

interface Scan {
  readonly cursor: string;
  readonly rowsMax: number;
  readonly scannedMax: number;
}

/** Scans a limited number of rows before the cursor. */
async function scan(
  database: OpenDatabase,
  { accountId, filter }: Pick<RequestsQuery, 'accountId' | 'filter'>,
  { cursor, rowsMax, scannedMax }: Scan,
): Promise<PageOf<RequestRow>> {
  const condition = toCondition(filter);
  const from = condition === undefined ? cursor : await skip(database, { accountId, filter, cursor });
  if (from === undefined) return { rows: [], next: undefined };
  const range = sql`${ofAccount(accountId)} AND request_id >= ${idAt('req', filter.span.fromMs)} AND request_id < ${from}`;
  const limit = condition === undefined ? rowsMax : scannedMax;
  const scanned = sql`SELECT * FROM usage WHERE ${range} ORDER BY request_id DESC LIMIT ${limit}`;
  const { rows } = await sql<RequestRow>`
    SELECT * FROM (${scanned}) AS scanned WHERE ${condition ?? sql`1 = 1`} ORDER BY request_id DESC LIMIT ${rowsMax}`.execute(
    database.kysely,
  );
  if (rows.length === rowsMax) return { rows, next: rows.at(-1)?.request_id };
  if (condition === undefined) return { rows, next: undefined };
  return { rows, next: await findEnd(database, range, scannedMax) };
}

function ofAccount(accountId: string | undefined): RawBuilder<unknown> {
  return accountId === undefined ? sql`1 = 1` : sql`account_id = ${accountId}`;
}

/** Returns the last id of the scanned rows; undefined when there are no more in the range. */
async function findEnd({ kysely }: OpenDatabase, range: RawBuilder<unknown>, scannedMax: number): Promise<string | undefined> {
  const { rows } = await sql<{ request_id: string }>`
    SELECT request_id FROM usage WHERE ${range} ORDER BY request_id DESC LIMIT 1 OFFSET ${scannedMax - 1}`.execute(kysely);
  return rows[0]?.request_id;
}

/** Moves the cursor to the newest quarter hour with a possible match. Roll-ups know that if the filter concerns their dimensions. */
async function skip(
  { kysely }: OpenDatabase,
  { accountId, filter, cursor }: Pick<RequestsQuery, 'accountId' | 'filter'> & { readonly cursor: string },
): Promise<string | undefined> {
  if (!isRolledUp(filter)) return cursor;
  if (accountId === undefined) return skipHours(kysely, filter, cursor);
  const { rows } = await sql<{ quarter_hour: bigint }>`
    SELECT quarter_hour FROM usage_rollups WHERE account_id = ${accountId} AND quarter_hour <= ${timeOf(cursor)}
      AND quarter_hour >= ${filter.span.fromMs - QUARTER_HOUR_MS} AND ${toRollupCondition(filter)} ORDER BY quarter_hour DESC LIMIT 1`.execute(
    kysely,
  );
  const [newest] = rows;
  if (newest === undefined) return undefined;
  const end = idAt('req', Number(newest.quarter_hour) + QUARTER_HOUR_MS);
  return end < cursor ? end : cursor;
}

/** Does the same for all accounts, for which whole hours are summed, but not by key. */
async function skipHours(database: Kysely<Tables>, filter: RequestFilter, cursor: string): Promise<string | undefined> {
  const atMs = timeOf(cursor);
  const sinceMs = ceilToGrid(Date.now() - KEPT_MS, HOURS);
  if (filter.key !== undefined || atMs < sinceMs || atMs >= (await readSummedUntil(database, WHOLE_SERVICE, HOURS))) return cursor;
  const { rows } = await sql<{ start_at: bigint }>`
    SELECT start_at FROM usage_past WHERE account_id = ${WHOLE_SERVICE} AND grid = ${gridName(HOURS)} AND dimension = 'model_provider'
      AND start_at <= ${atMs} AND start_at >= ${Math.max(sinceMs, filter.span.fromMs - HOURS.lengthMs)} AND ${toRollupCondition(filter)}
    ORDER BY start_at DESC LIMIT 1`.execute(database);
  const [newest] = rows;
  if (newest === undefined) return filter.span.fromMs >= sinceMs ? undefined : idAt('req', sinceMs);
  const end = idAt('req', Number(newest.start_at) + HOURS.lengthMs);
  return end < cursor ? end : cursor;
}

/** Finds a request by id, whatever the time range. */
async function findOne(
  { kysely }: OpenDatabase,
  { accountId, filter }: Pick<RequestsQuery, 'accountId' | 'filter'>,
): Promise<readonly RequestRow[]> {
  const row = await findRow(kysely, accountId, filter.requestId ?? '');
  return row === undefined ? [] : [row];
}

/** Finds a request by id, for one account or any. */
export async function findRow(database: Kysely<Tables>, accountId: string | undefined, requestId: string): Promise<RequestRow | undefined> {
  const query = database.selectFrom('usage').selectAll().where('request_id', '=', requestId);
  return (accountId === undefined ? query : query.where('account_id', '=', accountId)).executeTakeFirst();
}

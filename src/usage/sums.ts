import { ROLLUP_SUMS } from '../ledger/checks.ts';
import { sql, type RawBuilder } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { jsonRows } from '../database/dialect.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { addTokens, type TokenUsage } from '../tokens.ts';
import { cutByGrids, readSummedGrids, type Piece } from './cut-by-grids.ts';
import { COLUMN_OF, DIMENSIONS, historyDimension, historyDimensionsOf, type Dimension, type HistoryDimension } from './dimensions.ts';
import { gridName } from './grid.ts';
import type { Span } from './zone.ts';

/** Only requests with one of these values, for each named dimension. */
export type SumsFilter = Readonly<Partial<Record<Dimension, readonly string[]>>>;

/** The sums of some requests. */
export interface Sums extends TokenUsage {
  readonly requests: number;
  readonly errors: number;
  readonly cost: Nanos;
  readonly firstTokenMs: number;
  readonly firstTokenCount: number;
  readonly durationMs: number;
  /** How many requests have a known duration. */
  readonly durationCount: number;
}

/** The sums of no requests. */
export const NO_SUMS: Sums = toSums({});

/** Which requests to sum, and how to group them. */
export interface SumsQuery {
  readonly accountId: string;
  /** May overlap. Each begins and ends on a quarter hour. */
  readonly spans: readonly Span[];
  /** The dimensions to group by, in this order: none, one or two. */
  readonly by: readonly Dimension[];
  readonly filter: SumsFilter;
  /** Values that may be merged. */
  readonly classes?: SumsClasses | undefined;
  /** The columns to sum; all by default. */
  readonly sums?: readonly RollupSum[] | undefined;
}

/** A request's values, one per requested dimension. */
type Values = readonly string[];

/** Sets of values to sum together, each found under its first member. Values in none of them are found under `rest`. */
export interface SumsClasses {
  readonly listed: readonly (readonly Values[])[];
  readonly rest: Values | undefined;
}

/** The name of a column that roll-ups add up. */
export type RollupSum = (typeof ROLLUP_SUMS)[number];

/** The sums of requests with these values, one per requested dimension. */
export interface FoundSums {
  readonly values: Values;
  readonly sums: Sums;
}

/** The results of each span. */
export type SumsBySpan = readonly (readonly FoundSums[])[];

/**
 * Sums an account's requests. Reads whole days and hours of history from their own sums where possible, and the rest from quarter
 * hours. Both give the same result; the former needs fewer rows.
 */
export async function readSums(database: OpenDatabase, asked: SumsQuery): Promise<SumsBySpan> {
  const query = isJoined(database, asked) ? asked : { ...asked, classes: undefined };
  const { accountId, spans } = query;
  const dimension = dimensionOf(query);
  const grids = await readSummedGrids(database.kysely, accountId);
  const { history, quarters } = cutByGrids(
    spans,
    grids.filter(({ grid }) => historyDimensionsOf(grid).includes(dimension)),
  );
  const rows = [
    ...(history.length === 0 ? [] : await readHistory(database, query, { dimension, pieces: history })),
    ...(quarters.length === 0 ? [] : await readQuarters(database, query, quarters)),
  ];
  const found = spans.map(() => new Map<string, FoundSums>());
  for (const row of rows) {
    const inSpan = found[Number(row.n)];
    const values = valuesOf(row, query);
    if (inSpan === undefined || values === undefined) continue;
    addRow(inSpan, row, values);
  }
  return found.map((inSpan) => [...inSpan.values()]);
}

/** Adds a row to what was found in a span. */
export function addRow(inSpan: Map<string, FoundSums>, row: GroupedRow, values: Values): void {
  const place = `${row.first}\u0000${row.second}`;
  const former = inSpan.get(place);
  inSpan.set(place, { values, sums: former === undefined ? toSums(row) : addSums(former.sums, toSums(row)) });
}

/** Merging classes is optional: the embedded database compares each row with each member, which only pays off for few members. */
const EMBEDDED_MEMBERS_MAX = 12;

function isJoined({ dialect }: OpenDatabase, { classes }: SumsQuery): boolean {
  const members = classes?.listed.reduce((count, each) => count + each.length, 0) ?? 0;
  return dialect === 'postgres' || members <= EMBEDDED_MEMBERS_MAX;
}

function valuesOf({ first, second }: FoundRow, { by, classes }: SumsQuery): Values | undefined {
  if (by.length === 0) return [];
  if (classes !== undefined) return first === null ? classes.rest : classes.listed[Number(first)]?.[0];
  return by.length === 1 ? [first ?? ''] : [first ?? '', second];
}

/** Sums everything found in a span. */
export function addFound(found: readonly FoundSums[] | undefined): Sums {
  return addAll((found ?? []).map(({ sums }) => sums));
}

/** Adds up a list of sums. */
export function addAll(sums: readonly Sums[]): Sums {
  // Most buckets of a small series are empty.
  return sums.reduce((total, one) => (one === NO_SUMS ? total : addSums(total, one)), NO_SUMS);
}

/** Adds two sums. */
export function addSums(one: Sums, other: Sums): Sums {
  return {
    ...addTokens(one, other),
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    cost: asNanos(one.cost + other.cost),
    firstTokenMs: one.firstTokenMs + other.firstTokenMs,
    firstTokenCount: one.firstTokenCount + other.firstTokenCount,
    durationMs: one.durationMs + other.durationMs,
    durationCount: one.durationCount + other.durationCount,
  };
}

/**
 * Returns the sums of failed or of all other requests. Roll-ups count failures but not their times separately; failures cost nothing and
 * used nothing.
 */
export function ofStatus(sums: Sums, status: 'ok' | 'error'): Sums {
  if (status === 'error') return { ...NO_SUMS, requests: sums.errors, errors: sums.errors };
  const untimed = { firstTokenMs: 0, firstTokenCount: 0, durationMs: 0, durationCount: 0 };
  return { ...sums, ...untimed, requests: sums.requests - sums.errors, errors: 0 };
}

/** Without a dimension any grouping will do. This one has the fewest values. */
const SMALLEST_DIMENSION: Dimension = 'provider';

/** Returns the grouping whose historical sums can answer the question. */
function dimensionOf({ by, filter }: SumsQuery): HistoryDimension {
  const asked = DIMENSIONS.filter((dimension) => by.includes(dimension) || filter[dimension] !== undefined);
  return historyDimension(asked.length === 0 ? [SMALLEST_DIMENSION] : asked);
}

async function readHistory(
  database: OpenDatabase,
  query: SumsQuery,
  { dimension, pieces }: { readonly dimension: HistoryDimension; readonly pieces: readonly Piece[] },
): Promise<readonly FoundRow[]> {
  const condition = sql`s.grid = p.grid AND s.dimension = ${dimension} AND s.start_at >= p.from_ms AND s.start_at < p.to_ms`;
  return addUp(database, query, { pieces, source: sql`usage_past s`, condition });
}

async function readQuarters(database: OpenDatabase, query: SumsQuery, pieces: readonly Piece[]): Promise<readonly FoundRow[]> {
  const condition = sql`s.quarter_hour >= p.from_ms AND s.quarter_hour < p.to_ms`;
  return addUp(database, query, { pieces, source: sql`usage_rollups s`, condition });
}

interface Addition {
  readonly pieces: readonly Piece[];
  readonly source: RawBuilder<unknown>;
  readonly condition: RawBuilder<unknown>;
}

/**
 * Runs one statement for all pieces, each of which reads a range of the index. The embedded database does so for a plain join. On
 * PostgreSQL the join must be lateral, or the planner may scan the whole table once per piece.
 */
async function addUp(database: OpenDatabase, query: SumsQuery, addition: Addition): Promise<readonly FoundRow[]> {
  const { accountId, filter, sums = ROLLUP_SUMS } = query;
  const { tables, columns, join } = namesOf(database, query);
  const pieces = piecesTable(database, addition.pieces);
  const added = sql.join(sums.map((name) => sql`SUM(${sql.ref(`s.${name}`)}) AS ${sql.ref(name)}`));
  const condition = sql`s.account_id = ${accountId} AND ${addition.condition} AND ${inFilter(filter, 's.')}`;
  const statement =
    database.dialect === 'sqlite'
      ? sql<FoundRow>`WITH ${pieces}${tables} SELECT p.n, ${columns}, ${added} FROM p CROSS JOIN ${addition.source} ${join}
          WHERE ${condition} GROUP BY 1, 2, 3`
      : sql<FoundRow>`WITH ${pieces}${tables} SELECT p.n, found.* FROM p CROSS JOIN LATERAL
          (SELECT ${columns}, ${added} FROM ${addition.source} ${join} WHERE ${condition} GROUP BY 1, 2) found`;
  return (await statement.execute(database.kysely)).rows;
}

interface NamesOfRows {
  readonly tables: RawBuilder<unknown>;
  readonly columns: RawBuilder<unknown>;
  readonly join: RawBuilder<unknown>;
}

/** Returns what rows are grouped by: their values, or the numbers of their classes. */
function namesOf({ dialect }: OpenDatabase, { by, classes }: SumsQuery): NamesOfRows {
  const nothing = sql``;
  const [first = sql`''`, second = sql`''`] = by.map((one) => sql.ref(`s.${COLUMN_OF[one]}`));
  if (classes === undefined || by.length === 0)
    return { tables: nothing, columns: sql`${first} AS first, ${second} AS second`, join: nothing };
  const rows = classes.listed.flatMap((members, index) => members.map(([one = '', other = '']) => [String(index), one, other]));
  return {
    tables: sql`, c AS MATERIALIZED (SELECT value ->> 0 AS class, value ->> 1 AS first, value ->> 2 AS second
      FROM ${jsonRows(dialect, rows)} AS listed)`,
    columns: sql`c.class AS first, '' AS second`,
    join: sql`LEFT JOIN c ON c.first = ${first} AND c.second = ${second}`,
  };
}

/** Renders the pieces as a table `p`, materialised once. Otherwise the JSON would be parsed again for every row. */
function piecesTable({ dialect }: OpenDatabase, pieces: readonly Piece[]): RawBuilder<unknown> {
  const rows = pieces.map(({ n, fromMs, toMs, grid }) => [n, fromMs, toMs, grid === undefined ? '' : gridName(grid)]);
  return sql`p AS MATERIALIZED (SELECT CAST(value ->> 0 AS BIGINT) AS n, CAST(value ->> 1 AS BIGINT) AS from_ms,
    CAST(value ->> 2 AS BIGINT) AS to_ms, value ->> 3 AS grid FROM ${jsonRows(dialect, rows)} AS piece)`;
}

/** Converts the filter to a condition on the rows of a table. `table` is a prefix for its columns. */
export function inFilter(filter: SumsFilter, table = ''): RawBuilder<unknown> {
  const conditions = DIMENSIONS.flatMap((dimension) => {
    const values = filter[dimension];
    if (values === undefined) return [];
    return values.length === 0 ? [sql`1 = 0`] : [sql`${sql.ref(table + COLUMN_OF[dimension])} IN (${sql.join([...values])})`];
  });
  return sql.join([sql`1 = 1`, ...conditions], sql` AND `);
}

/** Sums as returned by the database. Those not requested are missing. */
export type SumsRow = Readonly<Partial<Record<RollupSum, bigint>>>;
type GroupedRow = SumsRow & { readonly first: string | null; readonly second: string };
type FoundRow = GroupedRow & { readonly n: bigint | number };

/** Converts a row of sums. */
export function toSums(row: SumsRow): Sums {
  const read = (name: RollupSum): number => Number(row[name] ?? 0);
  return {
    requests: read('requests'),
    errors: read('errors'),
    inputTokens: read('input_tokens'),
    cachedInputTokens: read('cached_input_tokens'),
    cacheWriteTokens: read('cache_write_tokens'),
    outputTokens: read('output_tokens'),
    reasoningTokens: read('reasoning_tokens'),
    cost: asNanos(row.cost ?? 0n),
    firstTokenMs: read('first_token_ms'),
    firstTokenCount: read('first_token_count'),
    durationMs: read('duration_ms'),
    durationCount: read('requests'),
  };
}

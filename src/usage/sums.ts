import { ROLLUP_SUMS } from '../ledger/checks.ts';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import type { Tables } from '../database/tables.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { QUARTER_MS, type Span } from './zone.ts';

/** What requests can be told apart by. */
export const DIMENSIONS = ['model', 'key', 'provider'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Only requests with one of these values, of each dimension that is named. */
export type SumsFilter = Readonly<Partial<Record<Dimension, readonly string[]>>>;

/** What some requests come to. */
export interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cost: Nanos;
  readonly firstTokenMs: number;
  readonly firstTokenCount: number;
  readonly durationMs: number;
}

export const NO_SUMS: Sums = {
  requests: 0,
  errors: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: asNanos(0n),
  firstTokenMs: 0,
  firstTokenCount: 0,
  durationMs: 0,
};

interface SumsQuestion {
  readonly accountId: string;
  /** May overlap; each begins and ends with a quarter of an hour. */
  readonly spans: readonly Span[];
  readonly group: Dimension | undefined;
  readonly filter: SumsFilter;
}

/** The sums of each span: by the values of a dimension, or all under the empty name. */
export type SumsBySpan = readonly ReadonlyMap<string, Sums>[];

/**
 * Adds up an account's requests. Whole hours of the past are read from their own sums where those can answer, the rest
 * from the quarter-hours: both tell the same, the former with fewer rows.
 */
export async function readSums(database: OpenDatabase, question: SumsQuestion): Promise<SumsBySpan> {
  const dimension = hourlyDimension(question);
  const untilMs = dimension === undefined ? 0 : await readUntil(database.kysely, question.accountId);
  const { hours, quarters } = split(question.spans, untilMs);
  const rows = [
    ...(dimension === undefined || hours.length === 0 ? [] : await readHours(database, question, { dimension, pieces: hours })),
    ...(quarters.length === 0 ? [] : await readQuarters(database, question, quarters)),
  ];
  const sums = question.spans.map(() => new Map<string, Sums>());
  for (const { n, value, ...row } of rows) {
    const found = sums[Number(n)];
    found?.set(value, addSums(found.get(value) ?? NO_SUMS, toSums(row)));
  }
  return sums;
}

/** What two sets of requests come to together. */
export function addSums(one: Sums, other: Sums): Sums {
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    cost: asNanos(one.cost + other.cost),
    firstTokenMs: one.firstTokenMs + other.firstTokenMs,
    firstTokenCount: one.firstTokenCount + other.firstTokenCount,
    durationMs: one.durationMs + other.durationMs,
  };
}

/** Those that failed, or all others. Roll-ups count failures and tell nothing else about them, but they cost nothing and used nothing. */
export function ofStatus(sums: Sums, status: 'ok' | 'error'): Sums {
  if (status === 'error') return { ...NO_SUMS, requests: sums.errors, errors: sums.errors };
  return { ...sums, requests: sums.requests - sums.errors, errors: 0 };
}

const HOUR_MS = 4 * QUARTER_MS;
/** Without a group any dimension will do; this one has the fewest values. */
const SMALLEST_DIMENSION: Dimension = 'provider';

/** The hours know one dimension at a time: undefined when the question is about two. */
function hourlyDimension({ group, filter }: SumsQuestion): Dimension | undefined {
  const asked = new Set(DIMENSIONS.filter((dimension) => dimension === group || filter[dimension] !== undefined));
  const [only] = asked;
  return asked.size > 1 ? undefined : (only ?? SMALLEST_DIMENSION);
}

async function readUntil(database: Kysely<Tables>, accountId: string): Promise<number> {
  const row = await database.selectFrom('usage_hours_until').select('until').where('account_id', '=', accountId).executeTakeFirst();
  return Number(row?.until ?? 0);
}

/** A part of a span: the span's number, and from when until when. */
type Piece = readonly [n: number, fromMs: number, toMs: number];

/** Whole hours that are summed up, and the quarters before and after them. */
function split(spans: readonly Span[], untilMs: number): { hours: Piece[]; quarters: Piece[] } {
  const hours: Piece[] = [];
  const quarters: Piece[] = [];
  for (const [n, { fromMs, toMs }] of spans.entries()) {
    const firstHourMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
    const lastHourMs = Math.floor(Math.min(toMs, untilMs) / HOUR_MS) * HOUR_MS;
    if (firstHourMs >= lastHourMs) {
      quarters.push([n, fromMs, toMs]);
      continue;
    }
    hours.push([n, firstHourMs, lastHourMs]);
    if (fromMs < firstHourMs) quarters.push([n, fromMs, firstHourMs]);
    if (lastHourMs < toMs) quarters.push([n, lastHourMs, toMs]);
  }
  return { hours, quarters };
}

type SumsRow = Readonly<Record<(typeof ROLLUP_SUMS)[number], bigint>>;
type FoundRow = SumsRow & { readonly n: bigint | number; readonly value: string };

const ADDED_UP = sql.join(ROLLUP_SUMS.map((name) => sql`SUM(${sql.ref(`s.${name}`)}) AS ${sql.ref(name)}`));
const COLUMN_OF: Readonly<Record<Dimension, string>> = { model: 's.model', key: 's.key_id', provider: 's.provider' };

async function readHours(
  database: OpenDatabase,
  { accountId, group, filter }: SumsQuestion,
  { dimension, pieces }: { readonly dimension: Dimension; readonly pieces: readonly Piece[] },
): Promise<readonly FoundRow[]> {
  return addUp(database, pieces, {
    value: group === undefined ? sql`''` : sql`s.value`,
    source: sql`usage_hours s`,
    condition: sql`s.account_id = ${accountId} AND s.dimension = ${dimension} AND s.hour >= p.from_ms AND s.hour < p.to_ms
      AND ${isOneOf('s.value', filter[dimension])}`,
  });
}

async function readQuarters(
  database: OpenDatabase,
  { accountId, group, filter }: SumsQuestion,
  pieces: readonly Piece[],
): Promise<readonly FoundRow[]> {
  const filters = DIMENSIONS.map((dimension) => isOneOf(COLUMN_OF[dimension], filter[dimension]));
  return addUp(database, pieces, {
    value: group === undefined ? sql`''` : sql.ref(COLUMN_OF[group]),
    source: sql`usage_rollups s`,
    condition: sql`s.account_id = ${accountId} AND s.quarter_hour >= p.from_ms AND s.quarter_hour < p.to_ms
      AND ${sql.join(filters, sql` AND `)}`,
  });
}

interface Addition {
  readonly value: RawBuilder<unknown>;
  readonly source: RawBuilder<unknown>;
  readonly condition: RawBuilder<unknown>;
}

/**
 * One statement for all pieces, each read by a range of the index. The embedded database does so for a plain join; that
 * of PostgreSQL has to be told, or its planner may go through the whole table once for every piece.
 */
async function addUp(
  database: OpenDatabase,
  pieces: readonly Piece[],
  { value, source, condition }: Addition,
): Promise<readonly FoundRow[]> {
  const table = piecesTable(database, pieces);
  const statement =
    database.dialect === 'sqlite'
      ? sql<FoundRow>`SELECT p.n, ${value} AS value, ${ADDED_UP} FROM ${table} CROSS JOIN ${source} WHERE ${condition} GROUP BY 1, 2`
      : sql<FoundRow>`SELECT p.n, added.* FROM ${table} CROSS JOIN LATERAL
          (SELECT ${value} AS value, ${ADDED_UP} FROM ${source} WHERE ${condition} GROUP BY 1) added`;
  return (await statement.execute(database.kysely)).rows;
}

/** The pieces as a table `p`. */
function piecesTable({ dialect }: OpenDatabase, pieces: readonly Piece[]): RawBuilder<unknown> {
  const json = JSON.stringify(pieces);
  const source = dialect === 'sqlite' ? sql`json_each(${json})` : sql`jsonb_array_elements(CAST(${json} AS JSONB))`;
  return sql`(SELECT CAST(value ->> 0 AS BIGINT) AS n, CAST(value ->> 1 AS BIGINT) AS from_ms, CAST(value ->> 2 AS BIGINT) AS to_ms
    FROM ${source} AS piece) AS p`;
}

function isOneOf(column: string, values: readonly string[] | undefined): RawBuilder<unknown> {
  if (values === undefined) return sql`1 = 1`;
  return values.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} IN (${sql.join([...values])})`;
}

function toSums(row: SumsRow): Sums {
  return {
    requests: Number(row.requests),
    errors: Number(row.errors),
    inputTokens: Number(row.input_tokens),
    cachedInputTokens: Number(row.cached_input_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    cost: asNanos(row.cost),
    firstTokenMs: Number(row.first_token_ms),
    firstTokenCount: Number(row.first_token_count),
    durationMs: Number(row.duration_ms),
  };
}

import { sql, type RawBuilder } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { idAt } from '../ids.ts';
import { COLUMN_OF, type Dimension } from './dimensions.ts';
import { addRow, inFilter, type FoundSums, type SumsBySpan, type SumsFilter, type SumsRow } from './sums.ts';
import type { Span } from './zone.ts';

/** The dimensions of roll-ups, plus those that only the requests themselves have. */
export type CountedDimension = Dimension | 'end_user' | 'status';

/** A query that is answered by counting single requests. */
export interface CountedQuery {
  readonly accountId: string;
  /** Do not overlap. Each begins and ends on a step. */
  readonly spans: readonly Span[];
  readonly by: readonly CountedDimension[];
  readonly filter: SumsFilter;
  readonly endUser?: string | undefined;
  readonly status?: 'ok' | 'error' | undefined;
}

/**
 * Sums an account's requests from the requests themselves. Roll-ups know nothing shorter than a quarter hour, no end users, and no
 * separate durations of failed requests. Ids begin with the time a request came in, so a time range is an index range.
 */
export async function countRequests(database: OpenDatabase, query: CountedQuery, stepMs: number): Promise<SumsBySpan> {
  const rows = await readSteps(database, query, stepMs);
  const inOrder = query.spans.map(({ fromMs, toMs }, n) => ({ fromMs, toMs, n })).toSorted((one, other) => one.fromMs - other.fromMs);
  const found = query.spans.map(() => new Map<string, FoundSums>());
  let at = 0;
  for (const row of rows) {
    const startMs = Number(row.step) * stepMs;
    while ((inOrder[at]?.toMs ?? Number.POSITIVE_INFINITY) <= startMs) at += 1;
    const span = inOrder[at];
    const inSpan = span !== undefined && startMs >= span.fromMs ? found[span.n] : undefined;
    if (inSpan !== undefined) addRow(inSpan, row, [row.first, row.second].slice(0, query.by.length));
  }
  return found.map((inSpan) => [...inSpan.values()]);
}

type CountedRow = SumsRow & { readonly step: bigint; readonly first: string; readonly second: string };

async function readSteps(
  { kysely }: OpenDatabase,
  { accountId, spans, by, filter, endUser, status }: CountedQuery,
  stepMs: number,
): Promise<readonly CountedRow[]> {
  const fromMs = Math.min(...spans.map((span) => span.fromMs));
  const toMs = Math.max(...spans.map((span) => span.toMs));
  const [first, second] = [by[0], by[1]].map(columnOf);
  const isOfUser = endUser === undefined ? sql`1 = 1` : sql`end_user = ${endUser}`;
  const isOfStatus = status === undefined ? sql`1 = 1` : sql`${STATUS} = ${status}`;
  const { rows } = await sql<CountedRow>`
    SELECT created_at / ${sql.lit(stepMs)} AS step, ${first} AS first, ${second} AS second, COUNT(*) AS requests,
      SUM(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END) AS errors, SUM(input_tokens) AS input_tokens,
      SUM(cached_input_tokens) AS cached_input_tokens, SUM(cache_write_tokens) AS cache_write_tokens, SUM(output_tokens) AS output_tokens,
      SUM(reasoning_tokens) AS reasoning_tokens, SUM(cost) AS cost, SUM(COALESCE(first_token_ms, 0)) AS first_token_ms,
      COUNT(first_token_ms) AS first_token_count, SUM(duration_ms) AS duration_ms
    FROM usage WHERE account_id = ${accountId} AND request_id >= ${idAt('req', fromMs)} AND request_id < ${idAt('req', toMs)}
      AND ${inFilter(filter)} AND ${isOfUser} AND ${isOfStatus} GROUP BY 1, 2, 3 ORDER BY 1`.execute(kysely);
  return rows;
}

const STATUS = sql`CASE WHEN outcome = 'failed' THEN 'error' ELSE 'ok' END`;

/** Requests without an end user belong to the series without a name. */
function columnOf(dimension: CountedDimension | undefined): RawBuilder<unknown> {
  if (dimension === undefined) return sql`''`;
  if (dimension === 'status') return STATUS;
  return dimension === 'end_user' ? sql`COALESCE(end_user, '')` : sql.ref(COLUMN_OF[dimension]);
}

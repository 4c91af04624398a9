import { sql } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { idAt } from '../ids.ts';
import { COLUMN_OF, inFilter, toSums, type FoundSums, type SumsBySpan, type SumsQuestion, type SumsRow } from './sums.ts';

const MINUTE_MS = 60_000;

/**
 * Adds up an account's requests minute by minute, from the requests themselves: roll-ups know nothing shorter than a quarter of
 * an hour. Every span is a minute. Ids begin with the time at which a request came in, so a range of time is one of the index.
 */
export async function readMinutes({ kysely }: OpenDatabase, { accountId, spans, by, filter }: SumsQuestion): Promise<SumsBySpan> {
  const fromMs = Math.min(...spans.map((span) => span.fromMs));
  const toMs = Math.max(...spans.map((span) => span.toMs));
  const [first, second] = [by[0], by[1]].map((one) => (one === undefined ? sql`''` : sql.ref(COLUMN_OF[one])));
  const { rows } = await sql<SumsRow & { minute: bigint; first: string; second: string }>`
    SELECT created_at / ${sql.lit(MINUTE_MS)} AS minute, ${first} AS first, ${second} AS second, COUNT(*) AS requests,
      SUM(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END) AS errors, SUM(input_tokens) AS input_tokens,
      SUM(cached_input_tokens) AS cached_input_tokens, SUM(cache_write_tokens) AS cache_write_tokens, SUM(output_tokens) AS output_tokens,
      SUM(reasoning_tokens) AS reasoning_tokens, SUM(cost) AS cost, SUM(COALESCE(first_token_ms, 0)) AS first_token_ms,
      COUNT(first_token_ms) AS first_token_count, SUM(duration_ms) AS duration_ms
    FROM usage WHERE account_id = ${accountId} AND request_id >= ${idAt('req', fromMs)} AND request_id < ${idAt('req', toMs)}
      AND ${inFilter(filter)} GROUP BY 1, 2, 3`.execute(kysely);
  const byMinute = Map.groupBy(rows, ({ minute }) => Number(minute) * MINUTE_MS);
  return spans.map((span) =>
    (byMinute.get(span.fromMs) ?? []).map((row): FoundSums => ({ values: [row.first, row.second].slice(0, by.length), sums: toSums(row) })),
  );
}

import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { idAt } from '../ids.ts';
import { addCounts } from './health.ts';
import { findKept } from './service-history.ts';
import type { Span } from './zone.ts';

/** Failures of one kind before the first token, counted per provider. */
export interface FailedAttempts {
  readonly provider: string;
  readonly outcome: string;
  readonly count: number;
}

/** The most rows to count, so that a provider that is down for days does not slow the page. */
const ROWS_MAX = 200_000;

/** Counts failed provider calls, whether another provider answered or none. If there are very many, counts the newest. */
export async function countFailedAttempts(
  database: Kysely<Tables>,
  { fromMs, toMs }: Span,
): Promise<{ readonly attempts: readonly FailedAttempts[]; readonly isCut: boolean; readonly sinceMs: number }> {
  const { rows } = await sql<{ provider: string; outcome: string; count: bigint }>`
    SELECT provider, outcome, COUNT(*) AS count FROM (SELECT provider, outcome FROM attempts
      WHERE request_id >= ${idAt('req', fromMs)} AND request_id < ${idAt('req', toMs)} ORDER BY request_id DESC LIMIT ${ROWS_MAX}) AS newest
    GROUP BY provider, outcome ORDER BY 3 DESC`.execute(database);
  const attempts = rows.map(({ provider, outcome, count }) => ({ provider, outcome, count: Number(count) }));
  const isCut = addCounts(attempts) === ROWS_MAX;
  // Attempts are deleted together with the usage rows of their requests.
  return { attempts, isCut, sinceMs: Math.max(fromMs, Math.min(toMs, await findKept(database))) };
}

import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { idAt } from '../ids.ts';
import { findKept } from './service-past.ts';
import type { Span } from './zone.ts';

/** How often a provider failed before its first token, in one way. */
export interface FailedAttempts {
  readonly provider: string;
  readonly outcome: string;
  readonly count: number;
}

/** More of them are not looked at, so that a provider that is away for days does not keep the page waiting. */
const ROWS_MAX = 200_000;

/** Counts the calls of providers that failed, whether another one answered or none; of very many the newest. */
export async function countFailedAttempts(
  database: Kysely<Tables>,
  { fromMs, toMs }: Span,
): Promise<{ readonly attempts: readonly FailedAttempts[]; readonly isCut: boolean; readonly sinceMs: number }> {
  const { rows } = await sql<{ provider: string; outcome: string; count: bigint }>`
    SELECT provider, outcome, COUNT(*) AS count FROM (SELECT provider, outcome FROM attempts
      WHERE request_id >= ${idAt('req', fromMs)} AND request_id < ${idAt('req', toMs)} ORDER BY request_id DESC LIMIT ${ROWS_MAX}) AS newest
    GROUP BY provider, outcome ORDER BY 3 DESC`.execute(database);
  const attempts = rows.map(({ provider, outcome, count }) => ({ provider, outcome, count: Number(count) }));
  const isCut = attempts.reduce((sum, { count }) => sum + count, 0) === ROWS_MAX;
  // They are dropped with the rows of their requests.
  return { attempts, isCut, sinceMs: Math.max(fromMs, Math.min(toMs, await findKept(database))) };
}

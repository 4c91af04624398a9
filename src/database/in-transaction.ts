import { setTimeout } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

const TRIES_MAX = 10;
const RETRY_MS_MAX = 50;
/** Serialization failure and deadlock of PostgreSQL: the transaction did not happen and can be run again. */
const RETRYABLE_CODES: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/**
 * Joins the caller's transaction if there is one, so that everything is written together or not at all. Otherwise it runs in one of its
 * own, again if that lost a conflict with another one, so the work must have no effects but those on the database.
 */
export function inTransaction<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  if (database.isTransaction) return work(database as Transaction<Tables>);
  return retryConflicts(() => database.transaction().execute(work));
}

/** Runs a whole transaction until it does not lose a conflict with another one. */
export async function retryConflicts<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (tries === TRIES_MAX || !RETRYABLE_CODES.has((error as { readonly code?: unknown } | undefined)?.code)) throw error;
      await setTimeout(Math.random() * RETRY_MS_MAX);
    }
  }
}

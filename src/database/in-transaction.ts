import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** Joins the caller's transaction if there is one, so that everything is written together or not at all. */
export function inTransaction<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return database.isTransaction ? work(database as Transaction<Tables>) : database.transaction().execute(work);
}

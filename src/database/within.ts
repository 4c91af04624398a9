import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** In the caller's transaction where there is one, so that its other entries are written with it or not at all. */
export function within<Result>(database: Kysely<Tables>, work: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
  return database.isTransaction ? work(database as Transaction<Tables>) : database.transaction().execute(work);
}

import { sql, type Kysely } from 'kysely';
import type { OpenDatabase } from './connect.ts';
import type { Tables } from './tables.ts';

/**
 * For what a power cut may take. The embedded database waits for its disk in the thread that asks, and all requests with it:
 * here it does not. The next charge takes such rows to the disk with it.
 */
export async function unflushed({ kysely, dialect }: OpenDatabase, work: (database: Kysely<Tables>) => Promise<unknown>): Promise<void> {
  if (dialect === 'postgres') return void (await work(kysely));
  await kysely.connection().execute(async (connection) => {
    await sql`PRAGMA synchronous = NORMAL`.execute(connection);
    try {
      await work(connection);
    } finally {
      await sql`PRAGMA synchronous = FULL`.execute(connection);
    }
  });
}

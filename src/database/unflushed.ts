import { sql, type Kysely } from 'kysely';
import type { OpenDatabase } from './connect.ts';
import type { Tables } from './tables.ts';

/**
 * Runs writes that a power cut may lose. The embedded database waits for its disk in the calling thread, which blocks all requests;
 * these writes do not wait. The next charge flushes them to disk as well.
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

import { sql, type Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** On a busy pooler, a shared connection may happen to come back. */
const CHECKS = 5;
const SHARED =
  'DATABASE_URL points to a pooler that shares connections between transactions. Tollgate needs its own: with PgBouncer, set pool_mode = session.';

/**
 * Rejects a pooler that assigns a connection per transaction. There, anything set once per connection reaches other clients: prepared
 * statements, statement timeouts, and the migration lock, for which the next migration would wait an hour. A server would start but fail
 * under load. The check is whether one connection stays the same while another is in a transaction.
 */
export async function requireOwnConnections(database: Kysely<Tables>): Promise<void> {
  await database.connection().execute(async (one) => {
    const before = await processOf(one);
    for (let checks = 0; checks < CHECKS; checks += 1) {
      const isShared = async (other: Kysely<Tables>): Promise<boolean> =>
        (await processOf(other)) === before || (await processOf(one)) !== before;
      if (await database.transaction().execute(isShared)) throw new Error(SHARED);
    }
  });
}

async function processOf(connection: Kysely<Tables>): Promise<unknown> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(connection);
  return rows[0]?.pid;
}

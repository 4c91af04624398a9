import { sql, type Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Where others are at work, a lent connection may come back by chance. */
const LOOKS = 5;
const LENT =
  'DATABASE_URL leads to a pooler that lends connections for one transaction each. Tollgate needs its own: with PgBouncer, set pool_mode = session.';

/**
 * With a pooler that lends a connection anew for each transaction, what is said once for a connection goes to others: prepared statements,
 * the limit of their time, and the lock of migrations, for which the next one would wait for an hour. A server would start there, and
 * fail when there is work. So it is seen whether one connection stays itself while another is in a transaction.
 */
export async function requireOwnConnections(database: Kysely<Tables>): Promise<void> {
  await database.connection().execute(async (one) => {
    const before = await processOf(one);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const ask = async (other: Kysely<Tables>): Promise<boolean> =>
        (await processOf(other)) === before || (await processOf(one)) !== before;
      if (await database.transaction().execute(ask)) throw new Error(LENT);
    }
  });
}

async function processOf(connection: Kysely<Tables>): Promise<unknown> {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(connection);
  return rows[0]?.pid;
}

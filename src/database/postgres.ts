import { Pool, types } from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
import type { Tables } from './tables.ts';

const INT8_OID = 20;
const NUMERIC_OID = 1700;
const CONNECT_MS = 5000;
/** No statement of ours takes longer, apart from reports over millions of rows. */
const STATEMENT_MS = 60_000;

// Sums of integers come as NUMERIC; both are integers to us, and larger than a number can hold.
types.setTypeParser(INT8_OID, BigInt);
types.setTypeParser(NUMERIC_OID, BigInt);

/** Opens connections to PostgreSQL. One that breaks is replaced; what ran on it fails and is told so. */
export function openPostgres(url: string, connectionsMax: number): Pool {
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    statement_timeout: STATEMENT_MS,
    idleTimeoutMillis: 30_000,
    application_name: 'tollgate',
  });
  // An idle connection that the server closes is no news to anybody: the next one is opened when it is needed.
  pool.on('error', () => undefined);
  return pool;
}

/** PostgreSQL behind the query builder, for everything but the ledger's hot statements. */
export function openPostgresKysely(url: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPostgres(url, 8) }) });
}

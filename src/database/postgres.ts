import { Pool, types, type ClientBase, type PoolClient, type PoolConfig } from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
import type { Tables } from './tables.ts';

const INT8_OID = 20;
const NUMERIC_OID = 1700;
const CONNECT_MS = 5000;
const GRACE_MS = 1000;

// Sums of integers arrive as NUMERIC. Both types hold integers too large for a number.
types.setTypeParser(INT8_OID, BigInt);
types.setTypeParser(NUMERIC_OID, BigInt);

/** The driver treats these modes as `verify-full`, which is what we want, but prints a long warning at every start. */
const CHECKED_MODE = /^(?!.*[?&]uselibpqcompat=true)(.*[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/u;

interface PoolOptions {
  readonly connectionsMax: number;
  /** Longer statements are cancelled and their connection closed. Undefined for reports, which may take longer. */
  readonly statementMs: number | undefined;
  /** Older connections are replaced once they are free. Undefined to keep them for as long as they work. */
  readonly lifeSeconds?: number | undefined;
}

/** Opens a connection pool. A broken connection is replaced; the query running on it fails. */
export function openPostgres(url: string, { connectionsMax, statementMs, lifeSeconds }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: url.replace(CHECKED_MODE, '$1verify-full'),
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS,
    ...(statementMs === undefined ? {} : limitsOf(statementMs)),
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: lifeSeconds,
    application_name: 'tollgate',
  });
  // An idle connection closed by the server needs no action: a new one is opened when needed.
  pool.on('error', () => undefined);
  // A connection that breaks in use fails its query and also emits an error event. Without a listener that event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('release', (_, client) => closeIfWaiting(client));
  return pool;
}

/**
 * Closes a connection whose last statement timed out without a reply, as after a failover that drops connections silently. The pool would
 * hand it out again, and every further statement would wait behind the lost one.
 */
function closeIfWaiting(client: PoolClient & { readonly readyForQuery?: boolean }): void {
  if (client.readyForQuery === false) void client.end();
}

/**
 * Our timeout is longer than the server's, so a statement we abandon has, as a rule, not happened. The server's timeout is set with a
 * statement, because poolers such as PgBouncer refuse it as a connection parameter.
 */
function limitsOf(statementMs: number): PoolConfig {
  // The pool awaits this result, although its types do not say so.
  const onConnect = (client: ClientBase): unknown => client.query(`SET statement_timeout = ${statementMs}`);
  return { query_timeout: statementMs + GRACE_MS, onConnect };
}

/**
 * After a switch to another server, the old one may go on answering, read-only. Writes fail there and reads do not, so without this limit
 * its connections would be used for ever, and changes to keys would not be noticed.
 */
const LIFE_SECONDS = 60;

/** Opens PostgreSQL behind the query builder, for everything except the ledger's hot statements. */
export function openPostgresKysely(url: string, statementMs: number | undefined, lifeSeconds = LIFE_SECONDS): Kysely<Tables> {
  const pool = openPostgres(url, { connectionsMax: 8, statementMs, lifeSeconds });
  // JIT compilation of a report takes longer than running it. If it cannot be turned off, reports are slower but still correct.
  pool.on('connect', (client) => void client.query('SET jit = off').catch(() => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

import { Pool, types, type ClientBase, type PoolConfig } from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
import type { Tables } from './tables.ts';

const INT8_OID = 20;
const NUMERIC_OID = 1700;
const CONNECT_MS = 5000;
const GRACE_MS = 1000;

// Sums of integers come as NUMERIC; both are integers to us, and larger than a number can hold.
types.setTypeParser(INT8_OID, BigInt);
types.setTypeParser(NUMERIC_OID, BigInt);

/** The driver takes these for `verify-full`, as we want it, but says so at length and for programmers whenever it starts. */
const CHECKED_MODE = /^(?!.*[?&]uselibpqcompat=true)(.*[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/u;

interface PoolOptions {
  readonly connectionsMax: number;
  /** A statement that takes longer is given up, and its connection with it; undefined for reports that may take their time. */
  readonly statementMs: number | undefined;
}

/** Opens connections to PostgreSQL. One that breaks is replaced; what ran on it fails and is told so. */
export function openPostgres(url: string, { connectionsMax, statementMs }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: url.replace(CHECKED_MODE, '$1verify-full'),
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS,
    ...(statementMs === undefined ? {} : limitsOf(statementMs)),
    idleTimeoutMillis: 30_000,
    application_name: 'tollgate',
  });
  // An idle connection that the server closes is no news to anybody: the next one is opened when it is needed.
  pool.on('error', () => undefined);
  // One that breaks while it is in use fails its query, and says so a second time to whoever listens: nobody would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Ours is later than the server's own, so that a statement that we give up is, as a rule, one that did not happen. The server is told
 * by a statement of its own: poolers such as PgBouncer refuse connections that begin with it.
 */
function limitsOf(statementMs: number): PoolConfig {
  // The pool waits for what this gives, though its types do not say so.
  const onConnect = (client: ClientBase): unknown => client.query(`SET statement_timeout = ${statementMs}`);
  return { query_timeout: statementMs + GRACE_MS, onConnect };
}

/** PostgreSQL behind the query builder, for everything but the ledger's hot statements. */
export function openPostgresKysely(url: string, statementMs: number | undefined): Kysely<Tables> {
  const pool = openPostgres(url, { connectionsMax: 8, statementMs });
  // Compiling a report takes longer than running it. Where that cannot be said, reports are slower and no less right.
  pool.on('connect', (client) => void client.query('SET jit = off').catch(() => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

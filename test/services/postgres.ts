import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { findPostgres, MAJOR_VERSION_MIN, startPrivatePostgres } from './private-postgres.ts';

export { findPostgres, startPrivatePostgres };

/** A suite's own database. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it, even with open connections. */
  drop(): Promise<void>;
}

const CONNECT_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 30_000;

/**
 * The server that all suites of a run share; undefined if there is none. Skip tests with
 * `describe.skipIf(postgresUrl === undefined)`.
 *
 * The first test file that imports this one starts it, rather than `npm test`: files that need no database do not wait for one, and
 * plain `bun test` works the same. All files run in one process, so there is one server; it ends with that process.
 */
export const postgresUrl: string | undefined = process.env['TEST_DATABASE_URL'] ?? (await startShared());

/** Creates an empty database on the shared server. */
export async function createDatabase(): Promise<TestDatabase> {
  if (postgresUrl === undefined) throw new Error('There is no PostgreSQL: skip this suite if postgresUrl is undefined.');
  const server = postgresUrl;
  const name = `tollgate_test_${randomBytes(8).toString('hex')}`;
  await administer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) };
}

async function startShared(): Promise<string | undefined> {
  return (await findPostgres()) === undefined ? undefined : (await startPrivatePostgres()).url;
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number }>(`select current_setting('server_version_num')::int / 10000 as version`);
    const version = rows[0]?.version ?? 0;
    if (version < MAJOR_VERSION_MIN)
      throw new Error(`TEST_DATABASE_URL is PostgreSQL ${version}; ${MAJOR_VERSION_MIN} or later is needed.`);
    await client.query(statement);
  } finally {
    await client.end();
  }
}

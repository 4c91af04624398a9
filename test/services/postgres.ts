import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
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
  return copyDatabase(postgresUrl, 'template1');
}

/**
 * Creates a database with the current schema on the shared server: a copy of one that is migrated once, which takes a fifth of the time.
 * On a server that is not ours, the original would be left behind, so there every database is migrated by itself.
 */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  if (process.env['TEST_DATABASE_URL'] !== undefined || postgresUrl === undefined) return createMigrated();
  original ??= createMigrated();
  return copyDatabase(postgresUrl, nameOf((await original).url));
}

let original: Promise<TestDatabase> | undefined;

async function createMigrated(): Promise<TestDatabase> {
  const database = await createDatabase();
  const { kysely, dialect } = await connect({ databaseUrl: database.url, databasePath: '' }, ANSWER_WITHIN_MS);
  await migrate(kysely, dialect);
  await kysely.destroy();
  return database;
}

async function copyDatabase(server: string, template: string): Promise<TestDatabase> {
  const name = `tollgate_test_${randomBytes(8).toString('hex')}`;
  await administer(server, `create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) };
}

function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
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

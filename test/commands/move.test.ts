import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import OpenAI from 'openai';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Tables } from '../../src/database/tables.ts';
import { loadConfig } from '../../src/config.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { serve, type Service } from '../../src/serve.ts';
import { runProgram } from '../faults/ledger/node.ts';
import { createDatabase, postgresUrl, type TestDatabase } from '../services/postgres.ts';
import { failureOf } from '../simulator/failure.ts';

const EMAIL = 'mover@example.com';
const NOT_COPIED = new Set(['changed_accounts', 'changes', 'kysely_migration', 'kysely_migration_lock', 'nodes']);

/** Moves a used embedded database to PostgreSQL. */
describe.skipIf(postgresUrl === undefined)('migrating an embedded database to PostgreSQL', () => {
  let folder: string;
  let secret: string;
  const targets: TestDatabase[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-move-'));
    writeFileSync(join(folder, 'tollgate.yaml'), '');
    secret = await useServer(folder);
    await addUnusualValues(join(folder, 'tollgate.db'));
  }, 120_000);
  afterAll(async () => {
    for (const target of targets) await target.drop();
    rmSync(folder, { recursive: true });
  });

  const makeTarget = async (): Promise<string> => {
    const target = await createDatabase();
    targets.push(target);
    return target.url;
  };
  const environment = (databaseUrl: string, dataFolder = folder): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    TOLLGATE_DATA: dataFolder,
    TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
    ...(databaseUrl !== '' && { DATABASE_URL: databaseUrl }),
  });
  const move = (databaseUrl: string, file = join(folder, 'tollgate.db')): Promise<string> =>
    runProgram(['migrate', '--from', file, '--json'], environment(databaseUrl));

  test('copies every row, and the gate continues there', async () => {
    const url = await makeTarget();
    const { copied } = JSON.parse(await move(url)) as { copied: Record<string, number> };
    const before = await readAll({ databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') });
    const after = await readAll({ databaseUrl: url, databasePath: '' });
    expect(after).toEqual(before);
    expect(copied).toEqual(Object.fromEntries(Object.entries(before).map(([table, rows]) => [table, rows.length])));
    for (const table of ['accounts', 'usage', 'transfers', 'usage_rollups', 'people', 'passkeys', 'export_chunks'])
      expect(copied[table]).toBeGreaterThan(0);

    const service = await serve(settings(folder, url));
    try {
      expect(await ask(service, secret)).toBe('Hello');
      const account = await service.accounts.find(EMAIL);
      const usage = await readUsage({ databaseUrl: url, databasePath: '' });
      const paidUsd = 5_000_000_000n - usage.reduce((sum, { cost }) => sum + cost, 0n);
      expect(account?.balance).toBe(asNanos(paidUsd));
      expect(usage.length).toBe((copied['usage'] ?? 0) + 1);
    } finally {
      await service.drain();
    }
    expect(JSON.parse(await runProgram(['ledger', 'verify', '--json'], environment(url)))).toMatchObject({ ok: true });
  }, 120_000);

  test('is refused if PostgreSQL has rows', async () => {
    const url = await makeTarget();
    await move(url);
    expect(await refusal(move(url))).toContain('PostgreSQL is not empty');
  }, 120_000);

  test('is refused while its server runs or with open holds, and copies nothing', async () => {
    const url = await makeTarget();
    const service = await serve(settings(folder, undefined));
    expect(await refusal(move(url))).toContain('Stop it first');
    await service.drain();

    const copy = mkdtempSync(join(tmpdir(), 'tollgate-move-'));
    const file = join(copy, 'tollgate.db');
    await runProgram(['backup', '--to', file], environment(''));
    await withDatabase({ databaseUrl: undefined, databasePath: file }, (database) =>
      sql`INSERT INTO holds (id, account_id, key_id, model, price_version, amount, node_id, created_at)
          SELECT 'req_1', id, 'key_1', 'm', 1, 5, 'node_1', 1 FROM accounts LIMIT 1`.execute(database),
    );
    expect(await refusal(move(url, file))).toContain('Start the server on it and stop it again');
    expect(existsSync(join(copy, 'server.lock'))).toBe(false);
    rmSync(copy, { recursive: true });
    expect(Object.values(await readAll({ databaseUrl: url, databasePath: '' })).flat()).toEqual([]);
  }, 120_000);

  test('is refused for an older schema, with advice', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'tollgate-move-'));
    const file = join(copy, 'tollgate.db');
    await withDatabase({ databaseUrl: undefined, databasePath: file }, (database) => migrate(database, 'sqlite', '002-ledger'));
    expect(await refusal(move(await makeTarget(), file))).toContain('has an older schema');
    rmSync(copy, { recursive: true });
  }, 120_000);

  test('needs a target and an existing source', async () => {
    expect(await refusal(move(''))).toContain('set DATABASE_URL');
    expect(await refusal(move(await makeTarget(), join(folder, 'missing.db')))).toContain('There is no database at');
  }, 120_000);

  test('can copy every table, since both databases have the same tables and columns', async () => {
    const url = await makeTarget();
    await runProgram(['migrate'], environment(url));
    const embedded = await withDatabase({ databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') }, async (database) =>
      sql<{ name: string; columns: string }>`
        SELECT m.name, group_concat(c.name) AS columns FROM sqlite_master m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' GROUP BY m.name`.execute(database),
    );
    const other = await withDatabase({ databaseUrl: url, databasePath: '' }, async (database) =>
      sql<{ name: string; columns: string }>`
        SELECT table_name AS name, string_agg(column_name, ',') AS columns FROM information_schema.columns
        WHERE table_schema = current_schema() GROUP BY table_name`.execute(database),
    );
    const sorted = ({ rows }: typeof other): string[] =>
      rows.map(({ name, columns }) => `${name}: ${columns.split(',').toSorted().join(', ')}`).toSorted();
    expect(sorted(other)).toEqual(sorted(embedded));
  }, 120_000);
});

async function refusal(moving: Promise<unknown>): Promise<string> {
  return ((await failureOf(moving)) as Error).message;
}

function settings(folder: string, databaseUrl: string | undefined): ReturnType<typeof loadConfig> {
  return loadConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    TOLLGATE_DATA: folder,
    TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
    TOLLGATE_LOG_LEVEL: 'silent',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  });
}

/** Runs a server for a while: an account with credit, a key with tags, some requests. Returns the key's secret. */
async function useServer(folder: string): Promise<string> {
  const service = await serve(settings(folder, undefined));
  const account = await service.accounts.create(EMAIL, true);
  if (account === undefined) throw new Error('the address is taken');
  await service.accounts.credit(account, asNanos(5_000_000_000n), { reason: 'test', actor: 'test' });
  const key = await service.keys.create(account.id, { name: 'Schlüssel 鍵 👋', tags: ['a', 'b'] });
  for (let count = 0; count < 3; count += 1) await ask(service, key.secret);
  await service.drain();
  return key.secret;
}

async function ask(service: Service, secret: string): Promise<string> {
  const client = new OpenAI({ apiKey: secret, baseURL: `${service.url}/v1`, maxRetries: 0 });
  const answer = await client.chat.completions.create({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] });
  return answer.choices[0]?.message.content ?? '';
}

/** Adds booleans, times, bytes and strings that PostgreSQL represents differently. */
async function addUnusualValues(databasePath: string): Promise<void> {
  await withDatabase({ databaseUrl: undefined, databasePath }, async (database) => {
    const at = '2026-11-16T01:02:03.456Z';
    const run = (statement: ReturnType<typeof sql>): Promise<unknown> => statement.execute(database);
    await run(sql`INSERT INTO people (id, account_id, name, email, email_verified, image, two_factor_enabled, created_at, updated_at)
      SELECT 'p1', id, ${'A "quoted" \\ name\nof two lines, and a \0'}, email, 1, NULL, 0, ${at}, ${at} FROM accounts LIMIT 1`);
    await run(sql`INSERT INTO passkeys (id, person_id, name, public_key, credential_id, counter, device_type, backed_up, created_at)
      VALUES ('k1', 'p1', NULL, 'x', 'y', 4294967, 'single', 0, ${at})`);
    await run(sql`INSERT INTO export_jobs (id, account_id, person_id, format, zone, query, filter, state, oldest_at, seen_at, created_at)
      SELECT 'j1', id, 'p1', 'csv', 'UTC', '{}', '{}', 'done', 9007199254740993, 1, 1 FROM accounts LIMIT 1`);
    await run(sql`INSERT INTO export_chunks (job_id, n, bytes) VALUES ('j1', 1, ${new Uint8Array([0, 1, 2, 127, 128, 255])})`);
    await run(sql`INSERT INTO service_secrets (name, value, created_at) VALUES ('other', '', 1)`);
  });
}

interface Place {
  readonly databaseUrl: string | undefined;
  readonly databasePath: string;
}

async function withDatabase<Result>(place: Place, use: (database: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  const { kysely } = await connect(place);
  try {
    return await use(kysely);
  } finally {
    await kysely.destroy();
  }
}

function readUsage(place: Place): Promise<{ cost: bigint }[]> {
  return withDatabase(place, (database) => database.selectFrom('usage').select('cost').execute());
}

/** Returns every row of every copied table, in a representation that both databases share. */
function readAll(place: Place): Promise<Record<string, string[]>> {
  return withDatabase(place, async (database) => {
    const { rows } =
      place.databaseUrl === undefined
        ? await sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`.execute(database)
        : await sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`.execute(database);
    const all: Record<string, string[]> = {};
    for (const name of rows
      .map((row) => row.name)
      .filter((table) => !NOT_COPIED.has(table))
      .toSorted()) {
      const { rows: list } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(database);
      all[name] = list
        .map((row) =>
          JSON.stringify(
            Object.keys(row)
              .toSorted()
              .map((column) => [column, plain(row[column])]),
          ),
        )
        .toSorted();
    }
    return all;
  });
}

/** Converts a value to the shared representation. PostgreSQL cannot store the character U+0000. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  if (value === true || value === false) return String(Number(value));
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : value;
}

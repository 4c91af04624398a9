import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import { Keys } from '../../src/accounts/keys.ts';
import { openKysely } from '../../src/database/kysely.ts';
import { migrate, MIGRATION_NAMES, prepareSchema } from '../../src/database/migrate.ts';
import { openPostgresKysely } from '../../src/database/postgres.ts';
import type { Tables } from '../../src/database/tables.ts';
import { openSqliteStore } from '../../src/ledger/sqlite.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { LONGEST_REQUEST_MS } from '../conformance/ledger-driver.ts';
import { holdOf, settleOf } from '../ledger/operations.ts';
import { createDatabase, postgresUrl, type TestDatabase } from '../services/postgres.ts';
import { failureOf } from '../simulator/failure.ts';

const ALL = [...MIGRATION_NAMES];
const LATER = ALL.slice(1);
const NOW_MS = 1_790_000_000_000;

async function namesIn(database: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(database);
  return rows.map((row) => row.name);
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return ((await failureOf(work)) as Error).message;
}

describe('the embedded database', () => {
  let folder: string;
  let path: string;
  let database: Kysely<Tables>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'));
    path = join(folder, 'tollgate.db');
    database = openKysely(path);
  });
  afterEach(async () => {
    await database.destroy();
    rmSync(folder, { recursive: true });
  });

  test('runs every migration at its first start, and none at the next', async () => {
    expect(await migrate(database, 'sqlite')).toEqual(ALL);
    expect(await migrate(database, 'sqlite')).toEqual([]);
    await prepareSchema(database, 'sqlite');
    expect(await namesIn(database)).toEqual(ALL);
  });

  test('is migrated at startup', async () => {
    await migrate(database, 'sqlite', '001-initial');
    await prepareSchema(database, 'sqlite');
    expect(await namesIn(database)).toEqual(ALL);
  });

  test('continues at the next start if it was killed before a migration was recorded', async () => {
    await migrate(database, 'sqlite', '004-usage-detail');
    // Simulates a process that dies after a migration has run, before it is recorded.
    await sql`CREATE TRIGGER killed BEFORE INSERT ON kysely_migration WHEN NEW.name = '007-key-rules' BEGIN SELECT RAISE(ABORT, 'killed'); END`.execute(
      database,
    );
    expect(await messageOf(prepareSchema(database, 'sqlite'))).toBe('The database schema could not be brought up to date: killed');
    await sql`DROP TRIGGER killed`.execute(database);
    await prepareSchema(database, 'sqlite');
    expect(await namesIn(database)).toEqual(ALL);
  });

  test('is migrated even if the clock was wrong before', async () => {
    await migrate(database, 'sqlite', '004-usage-detail');
    await sql`UPDATE kysely_migration SET timestamp = '1970-01-01T00:00:00.000Z' WHERE name = '003-carried'`.execute(database);
    await prepareSchema(database, 'sqlite');
    expect(await namesIn(database)).toEqual(ALL);
  });

  test('created by a newer program is left alone, and the message says what to do', async () => {
    await migrate(database, 'sqlite');
    await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('999-future', 'now')`.execute(database);
    for (const work of [migrate, prepareSchema])
      expect(await messageOf(work(database, 'sqlite'))).toBe(
        'The database was created by a newer Tollgate: it has 999-future, which this program does not know. Start the newer program, or restore a backup from before the upgrade.',
      );
    expect(await namesIn(database)).toEqual([...ALL, '999-future']);
  });

  describe('of the first release', () => {
    beforeEach(async () => {
      await migrate(database, 'sqlite', '001-initial');
      await fillFirstSchema(database);
    });

    test('keeps every balance, and the sums behind it', async () => {
      expect(await migrate(database, 'sqlite')).toEqual(LATER);
      const wallets = await database.selectFrom('wallets').selectAll().orderBy('account_id').execute();
      expect(wallets).toEqual([
        { account_id: 'acct_debt', credits_posted: 50n, debits_posted: 80n, debits_pending: 0n, plan_resets_at: null },
        { account_id: 'acct_empty', credits_posted: 0n, debits_posted: 0n, debits_pending: 0n, plan_resets_at: null },
        { account_id: 'acct_rich', credits_posted: 1500n, debits_posted: 630n, debits_pending: 0n, plan_resets_at: null },
      ]);
      const checks = await verifyLedger(database, { longestRequestMs: LONGEST_REQUEST_MS });
      expect(checks.filter((check) => !check.ok)).toEqual([]);
    });

    test('keeps credits, debits and charges as transfers', async () => {
      await migrate(database, 'sqlite');
      const transfers = await database.selectFrom('transfers').selectAll().orderBy('id').execute();
      const rich = 'wallet:acct_rich';
      const made = BigInt(NOW_MS);
      expect(transfers).toEqual([
        { id: 'cred_1', debit: 'promo_expense', credit: rich, amount: 1000n, kind: 'manual', ref: 'first', created_at: made },
        { id: 'cred_2', debit: 'promo_expense', credit: rich, amount: 500n, kind: 'manual', ref: 'more', created_at: made },
        { id: 'cred_3', debit: rich, credit: 'promo_expense', amount: 200n, kind: 'manual', ref: 'back', created_at: made },
        { id: 'cred_4', debit: 'promo_expense', credit: 'wallet:acct_debt', amount: 50n, kind: 'manual', ref: 'first', created_at: made },
        { id: 'req_1', debit: rich, credit: 'revenue', amount: 400n, kind: 'usage', ref: '', created_at: made + 9n },
        { id: 'req_2', debit: rich, credit: 'revenue', amount: 30n, kind: 'usage', ref: '', created_at: made + 9n },
        { id: 'req_4', debit: 'wallet:acct_debt', credit: 'revenue', amount: 80n, kind: 'usage', ref: '', created_at: made + 9n },
      ]);
    });

    test('keeps every usage row and rolls it up', async () => {
      await migrate(database, 'sqlite');
      const usage = await database.selectFrom('usage').selectAll().orderBy('request_id').execute();
      expect(usage.map((row) => [row.request_id, row.cost, row.outcome, row.price_version])).toEqual([
        ['req_1', 400n, 'completed', 0n],
        ['req_2', 30n, 'client_gone', 0n],
        ['req_3', 0n, 'failed', 0n],
        ['req_4', 80n, 'completed', 0n],
      ]);
      expect(usage[0]).toMatchObject({ input_tokens: 1n, cached_input_tokens: 2n, cache_write_tokens: 3n, output_tokens: 4n, held: 500n });
      const rollups = await database.selectFrom('usage_rollups').selectAll().orderBy('account_id').execute();
      expect(rollups).toMatchObject([
        { account_id: 'acct_debt', requests: 1n, errors: 0n, cost: 80n, output_tokens: 4n },
        { account_id: 'acct_rich', requests: 3n, errors: 1n, cost: 430n, output_tokens: 12n },
      ]);
    });

    test('recounts roll-ups by provider, and keeps those whose rows are gone', async () => {
      await migrate(database, 'sqlite', '003-carried');
      await leaveOldRollups(database);
      await migrate(database, 'sqlite');
      expect(await rollupsOf(database)).toMatchObject(ROLLUPS_AFTER);
    });

    test('keeps its keys, and their requests are charged as before', async () => {
      await migrate(database, 'sqlite');
      expect(await new Keys(database).findHolder('hash_1')).toMatchObject({
        keyId: 'key_1',
        accountId: 'acct_rich',
        models: ['a/b'],
        concurrent: 3,
      });
      const store = openSqliteStore(path, 'node_1', { onFailure: () => undefined });
      const owner = { accountId: 'acct_rich', keyId: 'key_1' };
      expect(await store.apply([holdOf(owner, 'req_5', { amount: 871n })])).toMatchObject([
        { type: 'insufficient_funds', available: 870n },
      ]);
      await store.apply([holdOf(owner, 'req_5', { amount: 870n }), settleOf(owner, 'req_5', { cost: 70n })]);
      await store.close();
      const grants = await database.selectFrom('grants').select(['account_id', 'remaining']).execute();
      expect(grants).toEqual([{ account_id: 'acct_rich', remaining: 800n }]);
    });

    test('stays unchanged when a migration fails halfway', async () => {
      await sql`CREATE TABLE audit (id TEXT) STRICT`.execute(database);
      expect(await messageOf(migrate(database, 'sqlite'))).toContain('could not be brought up to date');
      expect(await namesIn(database)).toEqual(['001-initial']);
      const { rows } = await sql<{ balance: bigint }>`SELECT balance FROM wallets ORDER BY account_id`.execute(database);
      expect(rows.map((row) => row.balance)).toEqual([-30n, 0n, 870n]);
      await sql`DROP TABLE audit`.execute(database);
      expect(await migrate(database, 'sqlite')).toEqual(LATER);
    });
  });
});

describe.skipIf(postgresUrl === undefined)('PostgreSQL', () => {
  let place: TestDatabase;
  let database: Kysely<Tables>;

  beforeEach(async () => {
    place = await createDatabase();
    database = openPostgresKysely(place.url, undefined);
  });
  afterEach(async () => {
    await database.destroy();
    await place.drop();
  });

  test('runs every migration on request, and is then ready for a start', async () => {
    expect(await migrate(database, 'postgres')).toEqual(ALL);
    expect(await migrate(database, 'postgres')).toEqual([]);
    await prepareSchema(database, 'postgres');
  });

  test('is not changed at startup: the message names the missing migrations and the command', async () => {
    const advice = 'Bring it up to date, once for all nodes, with: tollgate migrate';
    expect(await messageOf(prepareSchema(database, 'postgres'))).toBe(`The database schema lacks ${ALL.join(', ')}. ${advice}`);
    await migrate(database, 'postgres', '001-initial');
    expect(await messageOf(prepareSchema(database, 'postgres'))).toBe(`The database schema lacks ${LATER.join(', ')}. ${advice}`);
    expect(await namesIn(database)).toEqual(['001-initial']);
  });

  test('created by a newer program is left alone', async () => {
    await migrate(database, 'postgres');
    await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('999-future', 'now')`.execute(database);
    for (const work of [migrate, prepareSchema])
      expect(await messageOf(work(database, 'postgres'))).toContain('created by a newer Tollgate: it has 999-future');
  });

  test('runs every migration once, even if three programs run them at the same time', async () => {
    const programs = [database, openPostgresKysely(place.url, undefined), openPostgresKysely(place.url, undefined)];
    const ran = await Promise.all(programs.map((program) => migrate(program, 'postgres')));
    expect(ran.flat().toSorted()).toEqual(ALL);
    expect(await namesIn(database)).toEqual(ALL);
    for (const program of programs.slice(1)) await program.destroy();
  });

  test('keeps every balance of the first schema', async () => {
    await migrate(database, 'postgres', '001-initial');
    await fillFirstSchema(database);
    await migrate(database, 'postgres');
    const wallets = await database.selectFrom('wallets').selectAll().orderBy('account_id').execute();
    expect(wallets.map((wallet) => wallet.credits_posted - wallet.debits_posted)).toEqual([-30n, 0n, 870n]);
    const checks = await verifyLedger(database, { longestRequestMs: LONGEST_REQUEST_MS });
    expect(checks.filter((check) => !check.ok)).toEqual([]);
  });

  test('recounts roll-ups by provider, and keeps those whose rows are gone', async () => {
    await migrate(database, 'postgres', '003-carried');
    await leaveOldRollups(database);
    await migrate(database, 'postgres');
    expect(await rollupsOf(database)).toMatchObject(ROLLUPS_AFTER);
  });
});

const QUARTER_MS = NOW_MS - (NOW_MS % 900_000) + 900_000;

/** Two providers in the last quarter hour. The rows of the first quarter hour and half of those of the second were deleted. */
async function leaveOldRollups(database: Kysely<Tables>): Promise<void> {
  const statements = [
    'DELETE FROM usage',
    'DELETE FROM usage_rollups',
    `INSERT INTO usage VALUES ${valuesOf('req_8', 'one', QUARTER_MS - 1, 3)}, ${valuesOf('req_9', 'one', QUARTER_MS, 3)},
      ${valuesOf('req_a', 'other', QUARTER_MS + 1, 4)}, ${valuesOf('req_b', 'other', QUARTER_MS + 2, null)}`,
    `INSERT INTO usage_rollups VALUES ('acct_1', 'key_1', 'm', ${QUARTER_MS - 1_800_000}, 7, 1, 7, 14, 21, 28, 70),
      ('acct_1', 'key_1', 'm', ${QUARTER_MS - 900_000}, 2, 0, 2, 4, 6, 8, 20), ('acct_1', 'key_1', 'm', ${QUARTER_MS}, 3, 0, 3, 6, 9, 12, 30)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(database);
}

function valuesOf(id: string, provider: string, createdAtMs: number, firstTokenMs: number | null): string {
  return `('${id}', 'acct_1', 'key_1', 'm', '${provider}', 1, 2, 3, 4, 5, 0, 0, 10, 20, 'completed', ${firstTokenMs}, 9, 1, ${createdAtMs})`;
}

async function rollupsOf(database: Kysely<Tables>): Promise<readonly object[]> {
  return database.selectFrom('usage_rollups').selectAll().orderBy('quarter_hour').orderBy('provider').execute();
}

const UNTIMED = { reasoning_tokens: 0n, first_token_ms: 0n, first_token_count: 0n, duration_ms: 0n };
const QUARTER = BigInt(QUARTER_MS);

const ROLLUPS_AFTER = [
  { quarter_hour: QUARTER - 1_800_000n, provider: '', requests: 7n, errors: 1n, cost: 70n, output_tokens: 28n, ...UNTIMED },
  { quarter_hour: QUARTER - 900_000n, provider: '', requests: 2n, errors: 0n, cost: 20n, output_tokens: 8n, ...UNTIMED },
  { quarter_hour: QUARTER, provider: 'one', requests: 1n, cost: 10n, reasoning_tokens: 5n, first_token_ms: 3n, duration_ms: 9n },
  { quarter_hour: QUARTER, provider: 'other', requests: 2n, cost: 20n, first_token_ms: 4n, first_token_count: 1n, duration_ms: 18n },
];

/** Writes what the first release would have: three accounts, credits and a debit, and four requests. */
async function fillFirstSchema(database: Kysely<Tables>): Promise<void> {
  const statements = [
    `INSERT INTO accounts VALUES ('acct_rich', 'rich@example.com', 'active', 1, ${NOW_MS}),
      ('acct_debt', 'debt@example.com', 'suspended', 0, ${NOW_MS}), ('acct_empty', 'empty@example.com', 'active', 0, ${NOW_MS})`,
    `INSERT INTO wallets VALUES ('acct_rich', 870, 0), ('acct_debt', -30, 0), ('acct_empty', 0, 0)`,
    `INSERT INTO credits VALUES ('cred_1', 'acct_rich', 1000, 'first', ${NOW_MS}), ('cred_2', 'acct_rich', 500, 'more', ${NOW_MS}),
      ('cred_3', 'acct_rich', -200, 'back', ${NOW_MS}), ('cred_4', 'acct_debt', 50, 'first', ${NOW_MS})`,
    `INSERT INTO api_keys VALUES ('key_1', 'acct_rich', 'first', '["a/b"]', NULL, NULL, 3, NULL, ${NOW_MS}, NULL)`,
    `INSERT INTO key_secrets VALUES ('hash_1', 'key_1', 'sk-tg-ab', 'wxyz', ${NOW_MS}, NULL)`,
    ...[
      ['req_1', 'acct_rich', 400, 'completed'],
      ['req_2', 'acct_rich', 30, 'client_gone'],
      ['req_3', 'acct_rich', 0, 'failed'],
      ['req_4', 'acct_debt', 80, 'completed'],
    ].map(
      ([id, account, cost, outcome]) =>
        `INSERT INTO usage VALUES ('${id}', '${account}', 'key_1', 'mock/gpt', 'mock', 1, 2, 3, 4, 0, 0, ${cost}, 500, '${outcome}', 9, ${NOW_MS})`,
    ),
  ];
  for (const statement of statements) await sql.raw(statement).execute(database);
}

test('an error about an unreachable PostgreSQL names the setting to check', async () => {
  const database = openPostgresKysely('postgres://nobody:s3cret@127.0.0.1:1/none', undefined);
  const message = await messageOf(prepareSchema(database, 'postgres'));
  expect(message).toStartWith('PostgreSQL cannot be used: ');
  expect(message).toEndWith('Check the address and the user in DATABASE_URL.');
  expect(message).not.toContain('s3cret');
  await database.destroy();
});

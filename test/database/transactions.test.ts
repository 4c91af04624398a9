import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import { unflushed } from '../../src/database/unflushed.ts';
import { failureOf } from '../simulator/failure.ts';

const VALUE = 'value';
/** SQLite's values of `synchronous`: without and with waiting for the disk at every commit. */
const [NORMAL, FULL] = [1n, 2n];

test('on the embedded database, a transaction that reads first can still write', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-transactions-'));
  const databasePath = join(folder, 'tollgate.db');
  const { kysely, dialect } = await connect({ databaseUrl: undefined, databasePath });
  await migrate(kysely, dialect);
  const other = openSqlite(databasePath);
  other.run('PRAGMA busy_timeout = 0');
  const write = (name: string): void =>
    void other.run('INSERT INTO service_secrets (name, value, created_at) VALUES (?, ?, 0)', [name, VALUE]);
  const read = () => kysely.selectFrom('service_secrets').select('name').orderBy('name').execute();

  await kysely.transaction().execute(async (transaction) => {
    await transaction.selectFrom('service_secrets').select('name').execute();
    expect(() => write('other')).toThrow('locked');
    await transaction.insertInto('service_secrets').values({ name: 'own', value: VALUE, created_at: 0 }).execute();
  });
  expect(await read()).toEqual([{ name: 'own' }]);

  // A read-only transaction blocks no writer, and sees one snapshot.
  const seen = await kysely
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      await transaction.selectFrom('service_secrets').select('name').execute();
      write('other');
      return transaction.selectFrom('service_secrets').select('name').execute();
    });
  expect(seen).toEqual([{ name: 'own' }]);
  expect(await read()).toEqual([{ name: 'other' }, { name: 'own' }]);

  other.close();
  await kysely.destroy();
  rmSync(folder, { recursive: true });
});

test('on the embedded database, a failure that rolled back its transaction keeps its own message', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-transactions-'));
  const { kysely } = await connect({ databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') });
  const work = kysely.transaction().execute(async (transaction) => {
    // As SQLite does itself when the disk is full.
    await sql`ROLLBACK`.execute(transaction);
    throw new Error('database or disk is full');
  });
  expect(((await failureOf(work)) as Error).message).toBe('database or disk is full');
  await kysely.destroy();
  rmSync(folder, { recursive: true });
});

test('on the embedded database, unflushed writes do not wait for the disk, and later writes do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-transactions-'));
  const opened = await connect({ databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') });
  const levels: unknown[] = [];
  const readLevel = async (database = opened.kysely): Promise<void> => {
    levels.push((await sql<{ synchronous: bigint }>`PRAGMA synchronous`.execute(database)).rows[0]?.synchronous);
  };
  const failing = async (database = opened.kysely): Promise<void> => {
    await readLevel(database);
    throw new Error('database or disk is full');
  };
  const running = unflushed(opened, readLevel);
  await readLevel();
  await running;
  expect(((await failureOf(unflushed(opened, failing))) as Error).message).toBe('database or disk is full');
  await readLevel();
  expect(levels).toEqual([NORMAL, FULL, NORMAL, FULL]);
  await opened.kysely.destroy();
  rmSync(folder, { recursive: true });
});

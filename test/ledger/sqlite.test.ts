import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { lockDataFolder, openSqlite } from '../../src/database/sqlite.ts';
import { LogKeeper } from '../../src/ledger/log-keeper.ts';
import { openSqliteStore, type Sync } from '../../src/ledger/sqlite.ts';
import { Books } from '../conformance/ledger-driver.ts';
import { testLedgerStore } from '../conformance/ledger-store.ts';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { holdOf, settleOf, type Owner } from './operations.ts';
import { sqlite } from './sqlite-driver.ts';

test('a second server on the same data folder is locked out until the first ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
  const first = lockDataFolder(folder);
  expect(first).toBeDefined();
  expect(lockDataFolder(folder)).toBeUndefined();
  first?.unlock();
  const third = lockDataFolder(folder);
  expect(third).toBeDefined();
  third?.unlock();
  rmSync(folder, { recursive: true });
});

testLedgerStore(sqlite);

describe('the log of the database', () => {
  test('that cannot be written back is told to the operator once, and nobody waits for it', async () => {
    const told: string[] = [];
    const keeper = new LogKeeper('/dev/null/none.db', (failure) => told.push(failure.message));
    keeper.grow(5000);
    for (let tries = 0; tries < 500 && told.length === 0; tries += 1) await Bun.sleep(10);
    keeper.grow(5000);
    await keeper.writingBack;
    expect(keeper.writingBack).toBeUndefined();
    expect(told).toHaveLength(1);
    await keeper.close();
  });

  test('that another connection keeps from being written back is told, and once more when it happens again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
    const path = join(folder, 'tollgate.db');
    const other = openSqlite(path);
    other.run('CREATE TABLE a (b)');
    const told: string[] = [];
    const keeper = new LogKeeper(path, (failure) => told.push(failure.message));
    for (const isHeld of [true, true, false, true]) {
      if (isHeld) other.run('BEGIN IMMEDIATE');
      keeper.grow(5000);
      await keeper.writingBack;
      if (isHeld) other.run('COMMIT');
    }
    expect(told).toHaveLength(2);
    await keeper.close();
    other.close();
    rmSync(folder, { recursive: true });
  }, 60_000);

  test('whose thread does not answer is told once, and waited for no longer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
    const path = join(folder, 'tollgate.db');
    const other = openSqlite(path);
    const told: string[] = [];
    const keeper = new LogKeeper(path, (failure) => told.push(failure.message), 100);
    // The thread waits for this, for longer than it has.
    other.run('BEGIN IMMEDIATE');
    keeper.grow(5000);
    await keeper.writingBack;
    expect(told).toEqual(['The thread did not answer within 100 ms']);
    keeper.grow(5000);
    expect(keeper.writingBack).toBeUndefined();
    other.run('COMMIT');
    // It has done its work after all, and is asked again.
    await until(() => {
      keeper.grow(5000);
      return keeper.writingBack !== undefined;
    });
    await keeper.close();
    other.close();
    rmSync(folder, { recursive: true });
  });
});

describe('a transaction on SQLite', () => {
  let books: Books;
  let owner: Owner;
  const open = (sync?: Sync) => openSqliteStore(books.place.databasePath, 'node_1', { sync, tell: () => undefined });

  beforeEach(async () => {
    books = await Books.open(sqlite);
    owner = await books.makeOwner(1_000_000n);
  });
  afterEach(() => books.close());

  test('with a charge is not over before its log is on disk', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const store = open(() => promise);
    let isOver = false;
    const charge = [holdOf(owner, 'req_1', { amount: 10n }), settleOf(owner, 'req_1', { cost: 1n })];
    const applied = store.apply(charge).finally(() => {
      isOver = true;
    });
    await Bun.sleep(20);
    expect(isOver).toBe(false);
    resolve();
    expect(await applied).toMatchObject([{ type: 'held' }, { type: 'settled' }]);
    await store.close();
  });

  test('of holds alone is over when others can see it, and does not wait for the disk', async () => {
    const store = open(() => Promise.reject(new Error('EIO')));
    expect(await store.apply([holdOf(owner, 'req_1', { amount: 10n })])).toMatchObject([{ type: 'held' }]);
    expect(await books.kysely.selectFrom('holds').select(['id', 'amount']).execute()).toEqual([{ id: 'req_1', amount: 10n }]);
    await store.close();
  });

  test('that could not be put on disk is the last one', async () => {
    const store = open(() => Promise.reject(new Error('EIO')));
    await store.apply([holdOf(owner, 'req_1', { amount: 10n })]);
    expect(await failureOf(store.apply([settleOf(owner, 'req_1', { cost: 1n })]))).toMatchObject({ message: 'EIO' });
    expect(store.isAlive).toBe(false);
    await store.close();
  });

  test('waits for another writer without stopping the thread', async () => {
    const store = open();
    const other = openSqlite(books.place.databasePath);
    other.run('BEGIN IMMEDIATE');
    const applied = store.apply([holdOf(owner, 'req_1', { amount: 10n })]);
    await Bun.sleep(20);
    other.run('COMMIT');
    other.close();
    expect(await applied).toMatchObject([{ type: 'held' }]);
    await store.close();
  });

  test('finds the log written back before it grows for ever', async () => {
    const store = open();
    for (let batch = 0; batch < 200; batch += 1) {
      const ids = Array.from({ length: 50 }, (_, index) => `req_${batch}_${index}`);
      await store.apply(ids.flatMap((id) => [holdOf(owner, id, { amount: 10n }), settleOf(owner, id, { cost: 1n })]));
    }
    const { rows } = await sql<{ log: bigint }>`PRAGMA wal_checkpoint(PASSIVE)`.execute(books.kysely);
    expect(Number(rows[0]?.log)).toBeLessThan(5000);
    await store.close();
    await books.expectSound();
  });
});

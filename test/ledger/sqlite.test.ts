import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { lockDataFolder, openSqlite } from '../../src/database/sqlite.ts';
import { Checkpointer } from '../../src/ledger/checkpointer.ts';
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

test('a charge writes no index of the credit that it draws on', async () => {
  const books = await Books.open(sqlite);
  const { rows } = await sql<{ opcode: string }>`EXPLAIN UPDATE grants SET remaining = 1 WHERE id = 'x'`.execute(books.kysely);
  expect(rows.map(({ opcode }) => opcode)).toContain('Insert');
  expect(rows.filter(({ opcode }) => /^Idx(?:Insert|Delete)$/.test(opcode))).toEqual([]);
  await books.close();
});

describe('checkpointing the write-ahead log', () => {
  test('reports a failure once and does not block', async () => {
    const reported: string[] = [];
    const checkpointer = new Checkpointer('/dev/null/none.db', (failure) => reported.push(failure.message));
    checkpointer.grow(5000);
    await until(() => reported.length > 0);
    checkpointer.grow(5000);
    await checkpointer.running;
    expect(checkpointer.running).toBeUndefined();
    expect(reported).toHaveLength(1);
    await checkpointer.close();
  });

  test('reports when another connection prevents it, and again at the next outage', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
    const path = join(folder, 'tollgate.db');
    const other = openSqlite(path);
    other.run('CREATE TABLE a (b)');
    const reported: string[] = [];
    const checkpointer = new Checkpointer(path, (failure) => reported.push(failure.message));
    for (const isHeld of [true, true, false, true]) {
      if (isHeld) other.run('BEGIN IMMEDIATE');
      checkpointer.grow(5000);
      await checkpointer.running;
      if (isHeld) other.run('COMMIT');
    }
    expect(reported).toHaveLength(2);
    await checkpointer.close();
    other.close();
    rmSync(folder, { recursive: true });
  }, 120_000);

  test('reports a worker that does not answer once, and stops waiting for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
    const path = join(folder, 'tollgate.db');
    const other = openSqlite(path);
    const reported: string[] = [];
    const checkpointer = new Checkpointer(path, (failure) => reported.push(failure.message), 100);
    // The worker waits for this lock longer than its time allows.
    other.run('BEGIN IMMEDIATE');
    checkpointer.grow(5000);
    await checkpointer.running;
    expect(reported).toEqual(['The checkpoint worker did not answer within 100 ms']);
    checkpointer.grow(5000);
    expect(checkpointer.running).toBeUndefined();
    other.run('COMMIT');
    // The worker finished after all, and is used again.
    await until(() => {
      checkpointer.grow(5000);
      return checkpointer.running !== undefined;
    });
    await checkpointer.close();
    other.close();
    rmSync(folder, { recursive: true });
  });
});

describe('a transaction on SQLite', () => {
  let books: Books;
  let owner: Owner;
  const open = (sync?: Sync) => openSqliteStore(books.place.databasePath, 'node_1', { sync, onFailure: () => undefined });

  beforeEach(async () => {
    books = await Books.open(sqlite);
    owner = await books.makeOwner(1_000_000n);
  });
  afterEach(() => books.close());

  test('with a charge does not finish before its log is on disk', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const store = open(() => promise);
    let isFinished = false;
    const charge = [holdOf(owner, 'req_1', { amount: 10n }), settleOf(owner, 'req_1', { cost: 1n })];
    const applied = store.apply(charge).finally(() => {
      isFinished = true;
    });
    await Bun.sleep(20);
    expect(isFinished).toBe(false);
    resolve();
    expect(await applied).toMatchObject([{ type: 'held' }, { type: 'settled' }]);
    await store.close();
  });

  test('of holds only finishes when others can see it, without waiting for the disk', async () => {
    const store = open(() => Promise.reject(new Error('EIO')));
    expect(await store.apply([holdOf(owner, 'req_1', { amount: 10n })])).toMatchObject([{ type: 'held' }]);
    expect(await books.kysely.selectFrom('holds').select(['id', 'amount']).execute()).toEqual([{ id: 'req_1', amount: 10n }]);
    await store.close();
  });

  test('that could not be flushed to disk is the last one', async () => {
    const store = open(() => Promise.reject(new Error('EIO')));
    await store.apply([holdOf(owner, 'req_1', { amount: 10n })]);
    expect(await failureOf(store.apply([settleOf(owner, 'req_1', { cost: 1n })]))).toMatchObject({ message: 'EIO' });
    expect(store.isAlive).toBe(false);
    await store.close();
  });

  test('waits for another writer without blocking the thread', async () => {
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

  test('keeps the log from growing for ever', async () => {
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

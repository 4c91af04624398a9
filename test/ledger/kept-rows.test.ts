import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { KeptRows } from '../../src/ledger/kept-rows.ts';
import type { LedgerStore } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { Books } from '../conformance/ledger-driver.ts';
import { failureOf } from '../simulator/failure.ts';
import { holdOf, settleOf, type Owner } from './operations.ts';
import { sqlite } from './sqlite-driver.ts';

describe('rows kept from one transaction to the next', () => {
  test('are read once', () => {
    let reads = 0;
    const rows = new KeptRows(() => ({ read: (reads += 1) }));
    const row = rows.use('a');
    rows.keep();
    expect(rows.used.size).toBe(0);
    expect(rows.use('a')).toBe(row);
    expect([...rows.used]).toEqual([['a', row]]);
    expect(reads).toBe(1);
  });

  test('are few, however many were used', () => {
    let reads = 0;
    const rows = new KeptRows((id) => ({ id, read: (reads += 1) }));
    for (let index = 0; index < 3000; index += 1) {
      rows.use(String(index));
      rows.keep();
    }
    rows.use('0');
    expect(reads).toBe(3001);
    rows.use('2999');
    expect(reads).toBe(3001);
  });

  test('are forgotten, and those of the running transaction with them', () => {
    let reads = 0;
    const rows = new KeptRows(() => (reads += 1));
    rows.use('a');
    rows.keep();
    rows.use('b');
    rows.forget();
    expect(rows.used.size).toBe(0);
    expect([rows.use('a'), rows.use('b')]).toEqual([3, 4]);
  });
});

describe('the ledger on SQLite, after another connection has written,', () => {
  let books: Books;
  let owner: Owner;
  let store: LedgerStore;
  let count = 0;
  const charge = (cost: bigint) => {
    count += 1;
    return store.apply([holdOf(owner, `req_${count}`, { amount: cost }), settleOf(owner, `req_${count}`, { cost })]);
  };
  const isCharged = async (cost: bigint): Promise<boolean> => (await charge(cost))[1]?.type === 'settled';

  beforeEach(async () => {
    books = await Books.open(sqlite);
    owner = await books.makeOwner(100n);
    store = await books.openStore('node_1');
    expect(await isCharged(60n)).toBe(true);
  });
  afterEach(async () => {
    await books.expectSound();
    await books.close();
  });

  test('finds new credit', async () => {
    expect(await charge(50n)).toMatchObject([{ type: 'insufficient_funds', available: 40n }, { type: 'resolved_before' }]);
    await books.credit(owner, 10n);
    expect(await isCharged(50n)).toBe(true);
    expect(await books.money(owner)).toEqual({ balance: 0n, held: 0n });
    expect(await books.remaining(owner)).toEqual([0n, 0n]);
  });

  test('draws first on new credit that expires first', async () => {
    await books.credit(owner, 30n, { expiresAtMs: Date.now() + 60_000 });
    expect(await isCharged(25n)).toBe(true);
    expect(await books.remaining(owner)).toEqual([40n, 5n]);
  });

  test('finds credit that is gone', async () => {
    await books.kysely.updateTable('grants').set({ remaining: 1n }).where('account_id', '=', owner.accountId).execute();
    await books.kysely.updateTable('wallets').set({ debits_posted: 99n }).where('account_id', '=', owner.accountId).execute();
    expect(await charge(2n)).toMatchObject([{ type: 'insufficient_funds', available: 1n }, { type: 'resolved_before' }]);
    await books.kysely.updateTable('grants').set({ remaining: 40n }).where('account_id', '=', owner.accountId).execute();
    await books.kysely.updateTable('wallets').set({ debits_posted: 60n }).where('account_id', '=', owner.accountId).execute();
  });

  test('finds a budget, a higher one, and none', async () => {
    await books.keys.setBudget(owner.keyId, 'day', asNanos(10n));
    expect(await charge(11n)).toMatchObject([{ type: 'budget_exhausted', available: 10n }, { type: 'resolved_before' }]);
    await books.keys.setBudget(owner.keyId, 'day', asNanos(20n));
    expect(await isCharged(11n)).toBe(true);
    expect(await charge(11n)).toMatchObject([{ type: 'budget_exhausted', available: 9n }, { type: 'resolved_before' }]);
    await books.keys.setBudget(owner.keyId, 'day', undefined);
    expect(await isCharged(11n)).toBe(true);
  });

  test('finds that the account may only spend its plan', async () => {
    const resetsAtMs = Date.now() + 60_000;
    await books.credit(owner, 5n, { kind: 'plan', expiresAtMs: resetsAtMs });
    const plan = { plan_resets_at: BigInt(resetsAtMs) };
    await books.kysely.updateTable('wallets').set(plan).where('account_id', '=', owner.accountId).execute();
    expect(await charge(6n)).toMatchObject([{ type: 'plan_exhausted', available: 5n, resetsAtMs }, { type: 'resolved_before' }]);
    await books.kysely.updateTable('wallets').set({ plan_resets_at: null }).where('account_id', '=', owner.accountId).execute();
    expect(await isCharged(6n)).toBe(true);
  });

  test('takes turns with another process without losing a charge', async () => {
    const other = await books.openStore('node_2');
    for (let turn = 0; turn < 10; turn += 1) {
      const id = `other_${turn}`;
      expect(await isCharged(1n)).toBe(true);
      await other.apply([holdOf(owner, id, { amount: 1n }), settleOf(owner, id, { cost: 1n })]);
    }
    expect(await books.money(owner)).toEqual({ balance: 20n, held: 0n });
    expect(await books.remaining(owner)).toEqual([20n]);
  });
});

describe('the ledger on SQLite, from one transaction to the next,', () => {
  let books: Books;
  let owner: Owner;
  let store: LedgerStore;

  beforeEach(async () => {
    books = await Books.open(sqlite);
    owner = await books.makeOwner(100n);
    store = await books.openStore('node_1');
  });
  afterEach(async () => {
    await books.expectSound();
    await books.close();
  });

  test('forgets what a failed transaction changed', async () => {
    await books.keys.setBudget(owner.keyId, 'day', asNanos(50n));
    await store.apply([holdOf(owner, 'req_1', { amount: 10n }), settleOf(owner, 'req_1', { cost: 10n })]);
    const stranger = { accountId: 'acct_none', keyId: 'key_none' };
    const failing = [holdOf(owner, 'req_2', { amount: 40n }), holdOf(stranger, 'req_3', { amount: 1n })];
    expect(await failureOf(store.apply(failing))).toMatchObject({ message: 'The account has no wallet' });
    expect(await store.apply([holdOf(owner, 'req_4', { amount: 40n })])).toMatchObject([{ type: 'held' }]);
    await store.apply([settleOf(owner, 'req_4', { cost: 40n })]);
    expect(await books.money(owner)).toEqual({ balance: 50n, held: 0n });
    expect(await books.remaining(owner)).toEqual([50n]);
  });

  test('does not draw on credit that has expired meanwhile', async () => {
    const expiresAtMs = Date.now() + 60_000;
    await books.credit(owner, 30n, { expiresAtMs });
    await store.apply([holdOf(owner, 'req_1', { amount: 10n }), settleOf(owner, 'req_1', { cost: 10n })]);
    await store.apply([{ type: 'expire', nowMs: expiresAtMs + 1 }]);
    await store.apply([holdOf(owner, 'req_2', { amount: 10n }), settleOf(owner, 'req_2', { cost: 10n })]);
    expect(await books.money(owner)).toEqual({ balance: 90n, held: 0n });
    expect(await books.remaining(owner)).toEqual([90n, 0n]);
  });

  test('draws on more grants than are read at once', async () => {
    for (let index = 0; index < 40; index += 1) await books.credit(owner, 1n, { expiresAtMs: Date.now() + 60_000 + index });
    for (let index = 0; index < 60; index += 1)
      await store.apply([holdOf(owner, `req_${index}`, { amount: 1n }), settleOf(owner, `req_${index}`, { cost: 1n })]);
    expect(await books.money(owner)).toEqual({ balance: 80n, held: 0n });
    expect((await books.remaining(owner)).filter((nanos) => nanos > 0n)).toEqual([80n]);
  });
});

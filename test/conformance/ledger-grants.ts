import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { postCredit, postDebit } from '../../src/ledger/credit.ts';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import type { LedgerStore } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { holdOf, settleOf, type Owner } from '../ledger/operations.ts';
import { failureOf } from '../simulator/failure.ts';
import { Books, type LedgerDriver } from './ledger-driver.ts';

const SOON = 1_000_000;
const LATER = 2_000_000;
/** More than one transaction takes back. */
const MANY = 510;

/** Credit: the order of use, expiry, and the effect of a debt. */
export function testGrants(driver: LedgerDriver): void {
  let books: Books;
  let store: LedgerStore;
  let owner: Owner;
  let lastId = 0;

  beforeAll(async () => {
    books = await Books.open(driver);
    store = await books.openStore('node_1');
  });
  beforeEach(async () => {
    owner = await books.makeOwner(0n);
  });
  afterEach(async () => {
    await books.expectSound();
    // The indexes leave out what is marked as spent, and nothing else.
    const grants = await books.kysely.selectFrom('grants').select(['remaining', 'is_spent']).execute();
    expect(grants.filter((grant) => (grant.remaining === 0n) !== (grant.is_spent === 1n))).toEqual([]);
    // Credit left to expire by one test would be counted in the next.
    await store.apply([{ type: 'expire', nowMs: LATER }]);
  });
  afterAll(() => books.close());

  const nextId = (): string => `req_${(lastId += 1)}`;
  const charge = async (cost: bigint): Promise<void> => {
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: 0n }), settleOf(owner, id, { cost })]);
  };
  const debit = (amount: bigint, source: string, accountId = owner.accountId) =>
    postDebit(books.kysely, { accountId, amount: asNanos(amount), house: 'promo_expense', source, reason: 'test', kind: 'refund' });
  const expire = async (nowMs: number) => (await store.apply([{ type: 'expire', nowMs }]))[0];
  /** Returns what is left, by the name of the credit. */
  const remaining = async () => {
    const rows = await books.kysely.selectFrom('grants').selectAll().where('account_id', '=', owner.accountId).execute();
    return Object.fromEntries(rows.map((row) => [row.source.replace(owner.accountId, '').slice(1), row.remaining]));
  };
  const countTransfers = async () => (await books.kysely.selectFrom('transfers').select('id').execute()).length;
  const credit = (nanos: bigint, name: string, expiresAtMs?: number) =>
    books.credit(owner, nanos, { source: `${owner.accountId}:${name}`, ...(expiresAtMs !== undefined && { expiresAtMs }) });
  const creditMany = (nanos: bigint, expiryOf: (number: number) => number | undefined) =>
    books.kysely.transaction().execute(async (transaction) => {
      const posting = { ...owner, amount: asNanos(nanos), house: 'promo_expense', kind: 'manual', reason: 'test' } as const;
      for (let number = 0; number < MANY; number += 1)
        await postCredit(transaction, { ...posting, source: `${owner.accountId}:${number}`, expiresAtMs: expiryOf(number) });
    });

  test('is marked as spent by the charge that uses up the last of it', async () => {
    await credit(30n, 'a');
    await charge(30n);
    const rows = await books.kysely.selectFrom('grants').selectAll().where('account_id', '=', owner.accountId).execute();
    expect(rows).toMatchObject([{ remaining: 0n, is_spent: 1n }]);
  });

  test('from plans and promotions is itemised on the requests it paid for', async () => {
    await books.credit(owner, 100n, { kind: 'plan', expiresAtMs: SOON });
    await books.credit(owner, 50n, { kind: 'promo', expiresAtMs: LATER });
    await books.credit(owner, 500n);
    const ids = [nextId(), nextId(), nextId(), nextId()] as const;
    const costs = [80n, 60n, 40n, 10n] as const;
    // In one transaction, each settlement continues where the previous one stopped.
    await store.apply(ids.map((id) => holdOf(owner, id, { amount: 0n })));
    await store.apply(ids.map((id, index) => settleOf(owner, id, { cost: costs[index] ?? 0n })));
    const parts = await Promise.all(ids.map(async (id) => [(await books.usageOf(id))?.plan_cost, (await books.usageOf(id))?.promo_cost]));
    expect(parts).toEqual([
      [80n, 0n],
      [20n, 40n],
      [0n, 10n],
      [null, null],
    ]);
  });

  test('that expires first is used first, and that without an expiry last', async () => {
    await credit(100n, 'never');
    await credit(100n, 'later', LATER);
    await credit(100n, 'soon', SOON);
    await charge(30n);
    expect(await remaining()).toEqual({ never: 100n, later: 100n, soon: 70n });
    await charge(120n);
    expect(await remaining()).toEqual({ never: 100n, later: 50n, soon: 0n });
    await charge(100n);
    expect(await remaining()).toEqual({ never: 50n, later: 0n, soon: 0n });
  });

  test('is used in the same order by many charges in one transaction', async () => {
    await credit(100n, 'never');
    await credit(100n, 'soon', SOON);
    const ids = Array.from({ length: 15 }, nextId);
    await store.apply(ids.map((id) => holdOf(owner, id, { amount: 10n })));
    await store.apply(ids.map((id) => settleOf(owner, id, { cost: 9n })));
    expect(await remaining()).toEqual({ never: 65n, soon: 0n });
  });

  test('in many small parts pays one large charge, and many small ones in one transaction', async () => {
    await creditMany(10n, (number) => (number % 2 === 0 ? SOON : undefined));
    const total = BigInt(MANY) * 10n;
    await charge(total / 2n + 5n);
    expect(Object.entries(await remaining()).filter(([, left]) => left === 0n)).toHaveLength(MANY / 2);
    const ids = Array.from({ length: MANY / 2 }, nextId);
    await store.apply(ids.map((id) => holdOf(owner, id, { amount: 0n })));
    // The last of them leaves a debt.
    await store.apply(ids.map((id) => settleOf(owner, id, { cost: 10n })));
    expect(new Set(Object.values(await remaining()))).toEqual(new Set([0n]));
    expect(await books.money(owner)).toEqual({ balance: -5n, held: 0n });
  });

  test('pays a debt first', async () => {
    await charge(70n);
    expect(await books.money(owner)).toEqual({ balance: -70n, held: 0n });
    await credit(50n, 'first');
    expect(await remaining()).toEqual({ first: 0n });
    await credit(50n, 'second');
    expect(await remaining()).toEqual({ first: 0n, second: 30n });
    expect(await books.money(owner)).toEqual({ balance: 30n, held: 0n });
  });

  test('granted again for the same reason is granted once', async () => {
    expect(await credit(50n, 'once')).toBe('posted');
    expect(await credit(50n, 'once')).toBe('repeated');
    expect(await books.money(owner)).toEqual({ balance: 50n, held: 0n });
    expect(await Promise.all(Array.from({ length: 8 }, () => credit(7n, 'at the same time')))).toContain('posted');
    expect(await books.money(owner)).toEqual({ balance: 57n, held: 0n });
  });

  test('taken back leaves a debt if it was spent, once for the same reason', async () => {
    await credit(100n, 'never');
    await credit(20n, 'soon', SOON);
    expect(await debit(50n, 'refund:1')).toBe('posted');
    expect(await debit(50n, 'refund:1')).toBe('repeated');
    expect(await remaining()).toEqual({ never: 70n, soon: 0n });
    await debit(100n, 'refund:2');
    expect(await remaining()).toEqual({ never: 0n, soon: 0n });
    expect(await books.money(owner)).toEqual({ balance: -30n, held: 0n });
  });

  test('cannot be granted to, or taken from, an unknown account', async () => {
    const before = await countTransfers();
    expect(await failureOf(debit(5n, 'refund:nobody', 'acct_nobody'))).toBeInstanceOf(Error);
    expect(await failureOf(books.credit({ accountId: 'acct_nobody', keyId: '' }, 5n))).toBeInstanceOf(Error);
    expect(await countTransfers()).toBe(before);
  });

  test('granted while the ledger writes is not lost', async () => {
    const ledger = new GroupCommitLedger(store);
    const charges = Array.from({ length: 40 }, async () => {
      const id = nextId();
      await ledger.hold(holdOf(owner, id, { amount: 0n }).hold);
      await ledger.settle(settleOf(owner, id, { cost: 1n }).settlement);
    });
    const credits = Array.from({ length: 40 }, (_, index) => credit(3n, String(index)));
    await Promise.all([...charges, ...credits]);
    expect(await books.money(owner)).toEqual({ balance: 80n, held: 0n });
  });

  test('that has expired is taken back, and nothing else', async () => {
    await credit(100n, 'never');
    await credit(100n, 'later', LATER);
    await credit(100n, 'soon', SOON);
    await charge(40n);
    expect(await expire(SOON - 1)).toEqual({ type: 'done', count: 0 });
    expect(await expire(SOON)).toEqual({ type: 'done', count: 1 });
    expect(await expire(SOON)).toEqual({ type: 'done', count: 0 });
    expect(await remaining()).toEqual({ never: 100n, later: 100n, soon: 0n });
    expect(await books.money(owner)).toEqual({ balance: 200n, held: 0n });
    const rows = books.kysely.selectFrom('transfers').selectAll().where('debit', '=', `wallet:${owner.accountId}`);
    expect(await rows.where('kind', '=', 'expiry').execute()).toMatchObject([
      { credit: 'breakage', amount: 60n, created_at: BigInt(SOON) },
    ]);
  });

  test('that has expired stays as far as running requests may need it', async () => {
    await credit(100n, 'soon', SOON);
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: 70n })]);
    expect(await expire(SOON)).toEqual({ type: 'done', count: 1 });
    expect(await remaining()).toEqual({ soon: 70n });
    expect(await expire(SOON)).toEqual({ type: 'done', count: 0 });
    await store.apply([settleOf(owner, id, { cost: 20n })]);
    expect(await expire(SOON)).toEqual({ type: 'done', count: 1 });
    expect(await remaining()).toEqual({ soon: 0n });
    expect(await books.money(owner)).toEqual({ balance: 0n, held: 0n });
  });

  test('expires after the charges before it in the same transaction', async () => {
    await credit(100n, 'never');
    await credit(100n, 'soon', SOON);
    const id = nextId();
    const results = await store.apply([
      holdOf(owner, id, { amount: 90n }),
      settleOf(owner, id, { cost: 90n }),
      { type: 'expire', nowMs: SOON },
      holdOf(owner, nextId(), { amount: 101n }),
    ]);
    expect(results.at(2)).toEqual({ type: 'done', count: 1 });
    expect(results.at(3)).toEqual({ type: 'insufficient_funds', available: asNanos(100n) });
    expect(await remaining()).toEqual({ never: 100n, soon: 0n });
  });

  test('of which some is left cannot be marked as spent', async () => {
    await credit(10n, 'never');
    const marked = books.kysely.updateTable('grants').set({ is_spent: 1 }).where('account_id', '=', owner.accountId).execute();
    expect(String(await failureOf(marked))).toMatch(/check/i);
    expect(await remaining()).toEqual({ never: 10n });
  });

  test('that has expired is taken back in as many transactions as it takes', async () => {
    await creditMany(1n, () => SOON);
    await credit(7n, 'never');
    expect(await new GroupCommitLedger(store).expire(SOON)).toBe(MANY);
    expect(await books.money(owner)).toEqual({ balance: 7n, held: 0n });
  });

  test('that has expired is taken back even if much more before it is held by running requests', async () => {
    await creditMany(1n, () => SOON);
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: BigInt(MANY) })]);
    const other = await books.makeOwner(0n);
    await books.credit(other, 5n, { expiresAtMs: SOON + 1 });
    expect(await expire(SOON + 1)).toEqual({ type: 'done', count: 1 });
    expect(await books.money(other)).toEqual({ balance: 0n, held: 0n });
    await store.apply([settleOf(owner, id, { cost: 0n })]);
    await new GroupCommitLedger(store).expire(LATER);
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { lockWallet } from '../../src/ledger/credit.ts';
import type { LedgerStore } from '../../src/ledger/ledger.ts';
import { encodeOperations } from '../../src/ledger/wire.ts';
import { Books } from '../conformance/ledger-driver.ts';
import { testLedgerStore } from '../conformance/ledger-store.ts';
import { postgresUrl } from '../services/postgres.ts';
import { holdOf, progressOf, settleOf } from './operations.ts';
import { postgres } from './postgres-driver.ts';

describe.skipIf(postgresUrl === undefined)('a PostgreSQL server', () => testLedgerStore(postgres));

const recover = async (store: LedgerStore) => (await store.apply([{ type: 'recover' }]))[0];

describe.skipIf(postgresUrl === undefined)('nodes that share a ledger', () => {
  let books: Books;
  let first: LedgerStore;
  let second: LedgerStore;

  beforeAll(async () => {
    books = await Books.open(postgres);
    first = await books.openStore('node_1');
    second = await books.openStore('node_2');
  });
  afterAll(() => books.close());

  const silence = (node: string, seconds: number) =>
    sql`UPDATE nodes SET heartbeat = clock_ms() - ${seconds * 1000}::BIGINT WHERE node_id = ${node}`.execute(books.kysely);

  test('leave the holds of a node alone that sent a heartbeat within 30 seconds', async () => {
    const owner = await books.makeOwner(1000n);
    await recover(first);
    await first.apply([holdOf(owner, 'req_1', { amount: 100n }), progressOf(owner, 'req_1', 40n)]);
    await silence('node_1', 29);
    expect(await recover(second)).toEqual({ type: 'done', count: 0 });
    await silence('node_1', 31);
    expect(await recover(second)).toEqual({ type: 'done', count: 1 });
    expect(await books.money(owner)).toEqual({ balance: 960n, held: 0n });
  });

  test('presume no node dead for 30 seconds after they were cut off themselves', async () => {
    const owner = await books.makeOwner(1000n);
    const dead = await books.openStore('node_gone');
    await dead.apply([holdOf(owner, 'req_2', { amount: 100n })]);
    await silence('node_2', 31);
    expect(await recover(second)).toEqual({ type: 'done', count: 0 });
    expect(await recover(second)).toEqual({ type: 'done', count: 0 });
    await sql`UPDATE nodes SET epoch = clock_ms() - 31000 WHERE node_id = 'node_2'`.execute(books.kysely);
    expect(await recover(second)).toEqual({ type: 'done', count: 1 });
    expect(await books.money(owner)).toEqual({ balance: 1000n, held: 0n });
  });

  test('recover a hold once, even if all find it at the same time', async () => {
    const owner = await books.makeOwner(1000n);
    const dead = await books.openStore('node_dead');
    const ids = Array.from({ length: 50 }, (_, index) => `req_dead_${index}`);
    await dead.apply(ids.flatMap((id) => [holdOf(owner, id, { amount: 10n }), progressOf(owner, id, 3n)]));
    const nodes = ['node_3', 'node_4', 'node_5'];
    const stores = await Promise.all(nodes.map((node) => books.openStore(node)));
    const results = await Promise.all(stores.map(recover));
    const counts = results.map((result) => (result?.type === 'done' ? result.count : 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50);
    expect(await books.money(owner)).toEqual({ balance: 850n, held: 0n });
  });

  test('do not deadlock when their batches touch the same accounts in opposite order', async () => {
    const owners = await Promise.all(Array.from({ length: 8 }, () => books.makeOwner(1_000_000n)));
    const round = async (store: LedgerStore, name: string, order: typeof owners): Promise<void> => {
      for (let turn = 0; turn < 15; turn += 1) {
        const id = (index: number): string => `req_${name}_${turn}_${index}`;
        await store.apply(order.map((owner, index) => holdOf(owner, id(index), { amount: 10n })));
        await store.apply(order.map((owner, index) => settleOf(owner, id(index), { cost: 7n })));
      }
    };
    await Promise.all([round(first, 'a', owners), round(second, 'b', owners.toReversed())]);
    for (const owner of owners) expect(await books.money(owner)).toEqual({ balance: 1_000_000n - 2n * 15n * 7n, held: 0n });
    await books.expectSound();
  });

  test('read only the wallets that they change, however many there are', async () => {
    const owner = await books.makeOwner(1_000_000n);
    await sql`INSERT INTO accounts (id, email, status, is_admin, created_at)
      SELECT 'acct_' || n, n || '@example.com', 'active', 0, 0 FROM generate_series(1, 5000) AS n`.execute(books.kysely);
    await sql`INSERT INTO wallets (account_id, credits_posted, debits_posted, debits_pending)
      SELECT 'acct_' || n, 0, 0, 0 FROM generate_series(1, 5000) AS n`.execute(books.kysely);
    await sql`ANALYZE wallets`.execute(books.kysely);
    // In one transaction, because its counts can be read, and often, because the planner settles on a plan after some calls.
    const scanned = await books.kysely.transaction().execute(async (transaction) => {
      for (let turn = 0; turn < 10; turn += 1) {
        const hold = holdOf(owner, `req_many_${turn}`, { amount: 10n });
        const settle = settleOf(owner, `req_many_${turn}`, { cost: 7n });
        // Together and apart, because operations of one request take another path.
        for (const operations of turn % 2 === 0 ? [[hold, settle]] : [[hold], [settle]])
          await sql`SELECT ledger_apply(${encodeOperations(operations)}::JSONB, 'node_1')`.execute(transaction);
      }
      const counts = sql<{ rows: bigint }>`SELECT seq_tup_read AS rows FROM pg_stat_xact_user_tables WHERE relname = 'wallets'`;
      return (await counts.execute(transaction)).rows[0]?.rows;
    });
    expect(scanned).toBeLessThan(1000);
    expect(await books.money(owner)).toEqual({ balance: 1_000_000n - 70n, held: 0n });
  });

  test('write each wallet, grant and roll-up once, however many operations change it', async () => {
    const owner = await books.makeOwner(1_000_000n);
    const ids = Array.from({ length: 20 }, (_, index) => `req_once_${index}`);
    await first.apply(ids.map((id) => holdOf(owner, id, { amount: 10n })));
    const settled = encodeOperations(ids.map((id) => settleOf(owner, id, { cost: 7n })));
    const counts = sql<{ name: string; rows: bigint }>`SELECT relname AS name, n_tup_ins + n_tup_upd AS rows FROM pg_stat_xact_user_tables
      WHERE relname IN ('wallets', 'grants', 'usage_rollups', 'usage') ORDER BY relname`;
    const written = await books.kysely.transaction().execute(async (transaction) => {
      const before = (await counts.execute(transaction)).rows;
      await sql`SELECT ledger_apply(${settled}::JSONB, 'node_1')`.execute(transaction);
      return (await counts.execute(transaction)).rows.map(({ name, rows }, index) => `${name} ${rows - (before[index]?.rows ?? 0n)}`);
    });
    expect(written).toEqual(['grants 1', 'usage 20', 'usage_rollups 1', 'wallets 1']);
    expect(await books.money(owner)).toEqual({ balance: 1_000_000n - 140n, held: 0n });
  });

  test('let expired credit wait while its account is in use elsewhere, instead of their other work', async () => {
    const owner = await books.makeOwner(0n);
    const [expiresAtMs, patienceMs] = [1000, 2000];
    await books.credit(owner, 50n, { expiresAtMs });
    const other = await books.makeOwner(100n);
    const inUse = Promise.withResolvers<unknown>();
    const end = Promise.withResolvers<undefined>();
    const use = books.kysely.transaction().execute(async (transaction) => {
      inUse.resolve(await lockWallet(transaction, owner.accountId));
      await end.promise;
    });
    await inUse.promise;
    const work = first.apply([{ type: 'expire', nowMs: expiresAtMs }, holdOf(other, 'req_waits', { amount: 10n })]);
    const results = await Promise.race([work, Bun.sleep(patienceMs)]);
    end.resolve(undefined);
    await use;
    expect(results).toMatchObject([{ type: 'done', count: 0 }, { type: 'held' }]);
    expect(await second.apply([{ type: 'expire', nowMs: expiresAtMs }])).toEqual([{ type: 'done', count: 1 }]);
    expect(await books.money(owner)).toEqual({ balance: 0n, held: 0n });
    await first.apply([settleOf(other, 'req_waits', { cost: 0n })]);
  });

  test('do not lose credit or charges that arrive at the same time', async () => {
    const owner = await books.makeOwner(0n);
    const charge = async (store: LedgerStore, name: string): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) {
        const id = `req_${name}_${turn}`;
        await store.apply([holdOf(owner, id, { amount: 0n }), settleOf(owner, id, { cost: 2n })]);
      }
    };
    const credits = Array.from({ length: 20 }, () => books.credit(owner, 3n));
    await Promise.all([charge(first, 'c'), charge(second, 'd'), ...credits]);
    expect(await books.money(owner)).toEqual({ balance: -20n, held: 0n });
    await books.expectSound();
  });
});

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { LedgerStore } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { abandonHoldsBefore } from '../../src/ledger/old-holds.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { holdOf, progressOf, settleOf, type Owner } from '../ledger/operations.ts';
import { Books, type LedgerDriver } from './ledger-driver.ts';

/** What happens to the holds of a process that has died. */
export function testRecovery(driver: LedgerDriver): void {
  let books: Books;
  let dead: LedgerStore;
  let next: LedgerStore;
  let owner: Owner;

  beforeEach(async () => {
    books = await Books.open(driver);
    dead = await books.openStore('node_dead');
    next = await books.openStore('node_next');
    owner = await books.makeOwner(1000n);
  });
  afterEach(async () => {
    await books.expectSound();
    await books.close();
  });

  const recover = async (store = next) => (await store.apply([{ type: 'recover' }]))[0];

  test('a hold is settled at its recorded progress', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n }), progressOf(owner, 'req_1', 250n)]);
    expect(await recover()).toEqual({ type: 'done', count: 1 });
    expect(await books.money(owner)).toEqual({ balance: 750n, held: 0n });
    const usage = await books.usageOf('req_1');
    expect(usage).toMatchObject({ outcome: 'recovered', cost: 250n, held: 600n, provider: 'mock', is_estimated: 1n, first_token_ms: null });
    expect(usage).toMatchObject({
      input_tokens: 10n,
      cached_input_tokens: 3n,
      cache_write_tokens: 2n,
      output_tokens: 7n,
      price_version: 0n,
    });
  });

  test('progress above the hold costs the amount held', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n }), progressOf(owner, 'req_1', 900n)]);
    await recover();
    expect(await books.money(owner)).toEqual({ balance: 400n, held: 0n });
  });

  test('a hold without progress is released', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n })]);
    expect(await recover()).toEqual({ type: 'done', count: 1 });
    expect(await books.money(owner)).toEqual({ balance: 1000n, held: 0n });
    expect(await books.usageOf('req_1')).toMatchObject({ outcome: 'recovered', cost: 0n, is_estimated: 0n });
  });

  test('budgets get back the hold and are charged the usage', async () => {
    await books.keys.setBudget(owner.keyId, 'total', asNanos(1000n));
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n }), progressOf(owner, 'req_1', 250n)]);
    await recover();
    expect(await books.kysely.selectFrom('key_budgets').select(['spent', 'held']).execute()).toEqual([{ spent: 250n, held: 0n }]);
  });

  test('a process does not recover its own holds, and nothing is recovered twice', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 100n }), progressOf(owner, 'req_1', 10n)]);
    await next.apply([holdOf(owner, 'req_2', { amount: 100n })]);
    expect(await recover()).toEqual({ type: 'done', count: 1 });
    expect(await recover()).toEqual({ type: 'done', count: 0 });
    expect(await books.money(owner)).toEqual({ balance: 990n, held: 100n });
  });

  test('a process presumed dead that wakes up charges nothing again', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n }), progressOf(owner, 'req_1', 250n)]);
    await recover();
    const late = [progressOf(owner, 'req_1', 300n), settleOf(owner, 'req_1', { cost: 400n })];
    expect(await dead.apply(late)).toEqual([{ type: 'recorded' }, { type: 'resolved_before' }]);
    expect(await books.money(owner)).toEqual({ balance: 750n, held: 0n });
  });

  test('a hold repeated after its settlement is released without a charge', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n })]);
    await dead.apply([settleOf(owner, 'req_1', { cost: 100n })]);
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n }), progressOf(owner, 'req_1', 250n)]);
    expect(await recover()).toEqual({ type: 'done', count: 0 });
    expect(await books.money(owner)).toEqual({ balance: 900n, held: 0n });
  });

  const abandonOldHolds = (nodeId: string) =>
    abandonHoldsBefore(books.kysely, { nodeId, createdBeforeMs: Date.now() - 5000, isRunning: (id) => id === 'req_running' });

  test('a hold forgotten by its own process is settled once no request can be that old', async () => {
    const createdAtMs = Date.now() - 10_000;
    await next.apply([holdOf(owner, 'req_old', { amount: 600n, createdAtMs }), progressOf(owner, 'req_old', 250n)]);
    await next.apply([holdOf(owner, 'req_running', { amount: 60n, createdAtMs }), holdOf(owner, 'req_new', { amount: 40n })]);
    expect(await abandonOldHolds('node_dead')).toEqual([]);
    expect(await recover()).toEqual({ type: 'done', count: 0 });
    expect(await abandonOldHolds('node_next')).toEqual(['req_old']);
    expect(await recover()).toEqual({ type: 'done', count: 1 });
    expect(await books.money(owner)).toEqual({ balance: 750n, held: 100n });
    expect(await next.apply([settleOf(owner, 'req_old', { cost: 400n })])).toEqual([{ type: 'resolved_before' }]);
  });

  test('a hold that is never settled is found by the verification', async () => {
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n, createdAtMs: Date.now() - 10_000 })]);
    const checks = await verifyLedger(books.kysely, { longestRequestMs: 5000 });
    const name = 'R5 no hold is older than the longest request';
    expect(checks.filter((check) => !check.ok)).toEqual([{ name, ok: false, difference: '1', places: ['req_1'] }]);
  });
}

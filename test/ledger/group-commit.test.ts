import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import type { LedgerStore, Operation, OperationResult } from '../../src/ledger/ledger.ts';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { LedgerModel } from './model.ts';
import { extendOf, holdOf, progressOf, settleOf, type Owner } from './operations.ts';

const OWNER: Owner = { accountId: 'acct_1', keyId: 'key_1' };
const PATIENCE = { holdMs: 1000, settleMs: 1500, retryMs: 5 };
/** For operations that are retried until they succeed, however busy the machine is. */
const LONG_PATIENCE = { ...PATIENCE, holdMs: 5000, settleMs: 5000 };
const BATCH_MAX = 512;

/** An in-memory ledger that can fail before the work is done, or after it, so that only the reply is lost. */
class FragileStore implements LedgerStore {
  isAlive = true;
  mode: 'works' | 'fails' | 'loses_replies' = 'works';
  readonly model = new LedgerModel();
  readonly batches: (readonly Operation[])[] = [];

  constructor(credit = 1000n) {
    this.model.addAccount(OWNER.accountId);
    this.model.credit(OWNER.accountId, { kind: 'promo', source: 'test', amount: credit });
  }

  async apply(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    this.batches.push(operations);
    await Bun.sleep(1);
    if (this.mode === 'fails') throw new Error('the disk is full');
    const results = operations.map((operation) => this.model.apply(operation, 'node_1'));
    if (this.mode === 'loses_replies') throw new Error('the connection broke');
    return results;
  }

  isRefusal(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.isAlive = false;
  }

  get balance(): bigint {
    return this.model.balance(OWNER.accountId);
  }

  get held(): bigint {
    return this.model.held(OWNER.accountId);
  }
}

const request = (id: string, amount = 100n) => holdOf(OWNER, id, { amount }).hold;
const settlement = (id: string, cost: bigint, isDelivered = true) => settleOf(OWNER, id, { cost, isDelivered }).settlement;

const sizesOf = (store: FragileStore) => store.batches.map((batch) => batch.length);
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const failure = await failureOf(work);
  expect(failure).toBeInstanceOf(GatewayError);
  expect((failure as GatewayError).errorName).toBe('ledger_unavailable');
}

describe('waiting operations', () => {
  test('share the next transaction, in order', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    const holds = await Promise.all(Array.from({ length: 11 }, (_, index) => ledger.hold(request(`req_${index}`))));
    expect(holds.filter((result) => result.type === 'held')).toHaveLength(10);
    expect(holds.at(-1)?.type).toBe('insufficient_funds');
    expect(store.batches.map((batch) => batch.length)).toEqual([11]);
    await ledger.close();
  });

  test('wait for the next turn if this one brought several', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    const early = ['req_1', 'req_2'].map((id) => ledger.hold(request(id)));
    await nextTurn();
    await Promise.all([...early, ledger.hold(request('req_3'))]);
    expect(sizesOf(store)).toEqual([3]);
    await ledger.close();
  });

  test('do not wait longer, however many more arrive', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    const holds = [ledger.hold(request('req_0', 1n))];
    for (let index = 1; index <= 9; index += 1) {
      holds.push(ledger.hold(request(`req_${index}`, 1n)));
      if (index % 3 === 0) await nextTurn();
    }
    await Promise.all(holds);
    expect(sizesOf(store)).toEqual([7, 3]);
    await ledger.close();
  });

  test('are written after one turn if nothing else arrives in it', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    const first = ledger.hold(request('req_1'));
    await nextTurn();
    await Promise.all([first, ledger.hold(request('req_2'))]);
    expect(sizesOf(store)).toEqual([1, 1]);
    await ledger.close();
  });

  test('are split into transactions of limited size', async () => {
    const store = new FragileStore(1_000_000n);
    const ledger = new GroupCommitLedger(store);
    await Promise.all(Array.from({ length: 1200 }, (_, index) => ledger.hold(request(`req_${index}`, 1n))));
    expect(Math.max(...store.batches.map((batch) => batch.length))).toBe(BATCH_MAX);
    expect(store.held).toBe(1200n);
  });

  test('are all written before the ledger closes, and refused afterwards', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    await ledger.hold(request('req_1'));
    const settled = ledger.settle(settlement('req_1', 30n));
    await ledger.close();
    expect(await settled).toBe('settled');
    expect(store.balance).toBe(970n);
    expect(ledger.isWritable).toBe(false);
    await expectUnavailable(ledger.hold(request('req_2')));
  });

  test('record progress and extend holds', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    await ledger.hold(request('req_1'));
    const progress = progressOf(OWNER, 'req_1', 40n);
    ledger.progress(progress.progress);
    expect(await ledger.extend(extendOf(OWNER, 'req_1', 1000n).extension)).toBe(true);
    expect(await ledger.extend(extendOf(OWNER, 'req_1', 1001n).extension)).toBe(false);
    expect(store.batches.flat()).toContainEqual(progress);
    expect(await ledger.recover()).toBe(0);
    expect(await ledger.expire(Date.now())).toBe(0);
  });
});

describe('a failing store', () => {
  test('goes unnoticed if it recovers at once', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    store.mode = 'fails';
    const held = ledger.hold(request('req_1'));
    await until(() => store.batches.length > 2);
    store.mode = 'works';
    expect((await held).type).toBe('held');
    expect(store.held).toBe(100n);
  });

  test('refuses holds after the timeout, not before', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    store.mode = 'fails';
    const beganAtMs = performance.now();
    await expectUnavailable(ledger.hold(request('req_1')));
    expect(performance.now() - beganAtMs).toBeWithin(PATIENCE.holdMs, PATIENCE.holdMs + 5000);
    store.mode = 'works';
    expect((await ledger.hold(request('req_2'))).type).toBe('held');
    expect(store.held).toBe(100n);
  });

  test('reports the cause, even if the timeout falls between two tries', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, { ...PATIENCE, retryMs: 3_600_000 });
    store.mode = 'fails';
    expect(await failureOf(ledger.hold(request('req_1')))).toMatchObject({ cause: { message: 'the disk is full' } });
  });

  test('is retried until the charge of a delivered answer is written', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'fails';
    await expectUnavailable(ledger.settle(settlement('req_1', 30n)));
    await Bun.sleep(3 * PATIENCE.retryMs);
    expect(store.balance).toBe(1000n);
    store.mode = 'works';
    await until(() => store.held === 0n);
    expect(store.balance).toBe(970n);
  });

  test('releases the hold of an answer that its caller never gets', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'fails';
    await expectUnavailable(ledger.settle(settlement('req_1', 30n, false)));
    store.mode = 'works';
    await until(() => store.held === 0n);
    expect(store.balance).toBe(1000n);
  });

  test('does not claim that nothing was charged when the charge may have been written', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'loses_replies';
    const failure = await failureOf(ledger.settle(settlement('req_1', 30n, false)));
    expect((failure as GatewayError).message).toContain('It is charged only if the charge was written before the ledger failed');
    store.mode = 'works';
    await until(() => ledger.waitingCount === 0);
    expect(store.balance).toBe(970n);
  });

  test('writes the charge of an answer not yet delivered if it recovers in time', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'fails';
    const settled = ledger.settle(settlement('req_1', 30n, false));
    await until(() => store.batches.length > 3);
    store.mode = 'works';
    expect(await settled).toBe('settled');
    expect(store.balance).toBe(970n);
  });

  test('refuses extensions and drops progress after the timeout', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'fails';
    ledger.progress(progressOf(OWNER, 'req_1', 40n).progress);
    await expectUnavailable(ledger.extend(extendOf(OWNER, 'req_1', 5n).extension));
    // A try already in flight ends a moment later.
    await until(() => ledger.waitingCount === 0);
  });

  test('refuses everything at once when it is dead', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    store.mode = 'fails';
    const held = ledger.hold(request('req_1'));
    store.isAlive = false;
    const beganAtMs = performance.now();
    await expectUnavailable(held);
    await expectUnavailable(ledger.settle(settlement('req_1', 30n)));
    expect(performance.now() - beganAtMs).toBeLessThan(LONG_PATIENCE.holdMs);
    expect(ledger.isWritable).toBe(false);
    expect(await ledger.lost).toBeInstanceOf(Error);
  });
});

describe('a store whose replies are lost', () => {
  test('holds the money of a repeated hold once', async () => {
    const store = new FragileStore(100n);
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    store.mode = 'loses_replies';
    const held = ledger.hold(request('req_1', 100n));
    await until(() => store.batches.length > 1);
    store.mode = 'works';
    expect((await held).type).toBe('held');
    expect(store.held).toBe(100n);
  });

  test('releases a hold that was taken after its caller was refused', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    store.mode = 'loses_replies';
    await expectUnavailable(ledger.hold(request('req_1')));
    store.mode = 'works';
    await until(() => store.held === 0n);
    expect(store.balance).toBe(1000n);
  });

  test('charges a repeated settlement once', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'loses_replies';
    const settled = ledger.settle(settlement('req_1', 30n));
    await until(() => store.batches.length > 3);
    store.mode = 'works';
    expect(await settled).toBe('resolved_before');
    expect([store.balance, store.held]).toEqual([970n, 0n]);
  });
});

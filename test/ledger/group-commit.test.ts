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
/** For what is tried again until it works, however busy the machine is. */
const LONG_PATIENCE = { ...PATIENCE, holdMs: 5000, settleMs: 5000 };
const BATCH_MAX = 512;

/** A ledger in memory that can be told to fail: before the work is done, or after it, when only the answer gets lost. */
class FragileStore implements LedgerStore {
  isAlive = true;
  mode: 'works' | 'fails' | 'loses_answers' = 'works';
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
    if (this.mode === 'loses_answers') throw new Error('the connection broke');
    return results;
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

async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const failure = await failureOf(work);
  expect(failure).toBeInstanceOf(GatewayError);
  expect((failure as GatewayError).errorName).toBe('ledger_unavailable');
}

describe('operations that wait', () => {
  test('go together in the next transaction, in their order', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    const holds = await Promise.all(Array.from({ length: 11 }, (_, index) => ledger.hold(request(`req_${index}`))));
    expect(holds.filter((result) => result.type === 'held')).toHaveLength(10);
    expect(holds.at(-1)?.type).toBe('insufficient_funds');
    expect(store.batches.map((batch) => batch.length)).toEqual([11]);
    await ledger.close();
  });

  test('are cut into transactions of bounded size', async () => {
    const store = new FragileStore(1_000_000n);
    const ledger = new GroupCommitLedger(store);
    await Promise.all(Array.from({ length: 1200 }, (_, index) => ledger.hold(request(`req_${index}`, 1n))));
    expect(Math.max(...store.batches.map((batch) => batch.length))).toBe(BATCH_MAX);
    expect(store.held).toBe(1200n);
  });

  test('are all written before the ledger closes, and none is taken after', async () => {
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

  test('of a stream are recorded and extended as asked', async () => {
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

describe('a store that fails', () => {
  test('for a moment is not noticed', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    store.mode = 'fails';
    const held = ledger.hold(request('req_1'));
    await until(() => store.batches.length > 2);
    store.mode = 'works';
    expect((await held).type).toBe('held');
    expect(store.held).toBe(100n);
  });

  test('refuses holds when patience is over, and not sooner', async () => {
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

  test('says why, also where patience is over between two tries', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, { ...PATIENCE, retryMs: 3_600_000 });
    store.mode = 'fails';
    expect(await failureOf(ledger.hold(request('req_1')))).toMatchObject({ cause: { message: 'the disk is full' } });
  });

  test('is asked again and again for the charge of an answer that was delivered', async () => {
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

  test('gives back the hold of an answer that its caller will never see', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'fails';
    await expectUnavailable(ledger.settle(settlement('req_1', 30n, false)));
    store.mode = 'works';
    await until(() => store.held === 0n);
    expect(store.balance).toBe(1000n);
  });

  test('does not say that nothing was charged where the charge may have been written', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'loses_answers';
    const failure = await failureOf(ledger.settle(settlement('req_1', 30n, false)));
    expect((failure as GatewayError).message).toContain('It is charged only if that was written before the ledger was lost');
    store.mode = 'works';
    await until(() => ledger.waitingCount === 0);
    expect(store.balance).toBe(970n);
  });

  test('writes the charge of an answer not yet seen when it recovers in time', async () => {
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

  test('refuses extensions and forgets progress when patience is over', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'fails';
    ledger.progress(progressOf(OWNER, 'req_1', 40n).progress);
    await expectUnavailable(ledger.extend(extendOf(OWNER, 'req_1', 5n).extension));
    // A try that was under way then ends a moment later.
    await until(() => ledger.waitingCount === 0);
  });

  test('and has died refuses everything at once', async () => {
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

describe('a store whose answers get lost', () => {
  test('takes the money of a repeated hold once', async () => {
    const store = new FragileStore(100n);
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    store.mode = 'loses_answers';
    const held = ledger.hold(request('req_1', 100n));
    await until(() => store.batches.length > 1);
    store.mode = 'works';
    expect((await held).type).toBe('held');
    expect(store.held).toBe(100n);
  });

  test('gives back a hold that was taken after its caller was refused', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, PATIENCE);
    store.mode = 'loses_answers';
    await expectUnavailable(ledger.hold(request('req_1')));
    store.mode = 'works';
    await until(() => store.held === 0n);
    expect(store.balance).toBe(1000n);
  });

  test('charges a repeated settlement once', async () => {
    const store = new FragileStore();
    const ledger = new GroupCommitLedger(store, LONG_PATIENCE);
    await ledger.hold(request('req_1'));
    store.mode = 'loses_answers';
    const settled = ledger.settle(settlement('req_1', 30n));
    await until(() => store.batches.length > 3);
    store.mode = 'works';
    expect(await settled).toBe('resolved_before');
    expect([store.balance, store.held]).toEqual([970n, 0n]);
  });
});

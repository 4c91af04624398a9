import { afterEach, beforeEach, expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import type { LedgerStore, SetAside } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { abandonHoldsBefore } from '../../src/ledger/old-holds.ts';
import { holdOf, progressOf, settleOf, USAGE, type Owner } from '../ledger/operations.ts';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { Books, type LedgerDriver } from './ledger-driver.ts';

const TOO_LARGE = 2n ** 70n;
const COUNT = 20;

/** What happens to operations that the database refuses, and to those beside them. */
export function testSetAside(driver: LedgerDriver): void {
  let books: Books;
  let store: LedgerStore;
  let ledger: GroupCommitLedger;
  let owner: Owner;
  let other: Owner;
  let reported: SetAside[];

  beforeEach(async () => {
    books = await Books.open(driver);
    store = await books.openStore('node_1');
    reported = [];
    ledger = new GroupCommitLedger(store, undefined, (operation) => reported.push(operation));
    owner = await books.makeOwner(1000n);
    other = await books.makeOwner(1000n);
  });
  afterEach(() => books.close());

  const hold = (id: string, whose = owner, amount = 10n) => ledger.hold(holdOf(whose, id, { amount }).hold);
  const settle = (id: string, facts: Parameters<typeof settleOf>[2], whose = owner) => ledger.settle(settleOf(whose, id, facts).settlement);
  const recover = async (from = store) => (await from.apply([{ type: 'recover' }]))[0];
  const removeWallet = async ({ accountId }: Owner) => {
    await books.kysely.deleteFrom('grants').where('account_id', '=', accountId).execute();
    await books.kysely.deleteFrom('wallets').where('account_id', '=', accountId).execute();
  };
  const spoil = { isDelivered: true, cost: 7n, usage: { ...USAGE, outputTokens: 1.5 } };

  test('a charge that cannot be written does not keep the others in its transaction from being written', async () => {
    const ids = Array.from({ length: COUNT }, (_, index) => `req_${index}`);
    await Promise.all([...ids, 'req_bad'].map((id) => hold(id)));
    const good = ids.map((id) => settle(id, { cost: 3n }));
    const bad = failureOf(settle('req_bad', spoil));
    const late = ids.map((id) => hold(`${id}_late`));
    expect(await Promise.all(good)).toEqual(ids.map(() => 'settled'));
    expect((await Promise.all(late)).map(({ type }) => type)).toEqual(ids.map(() => 'held'));
    expect(await bad).toBeInstanceOf(GatewayError);
    expect(ledger.isWritable).toBe(true);
    await until(() => reported.length === 2);
    expect(reported.map(({ type, requestId }) => `${type} ${requestId}`)).toEqual(['settle req_bad', 'progress req_bad']);
    expect(reported[0]).toMatchObject({ accountId: owner.accountId, cost: 7n });
    expect(ledger.setAsideCount).toBe(2);
    expect(await books.money(owner)).toEqual({ balance: 1000n - 3n * BigInt(COUNT), held: 10n * BigInt(COUNT + 1) });
    await books.expectSound();
  });

  test('a delivered answer that cannot be recorded in full is charged by recovery, once its hold is old', async () => {
    await hold('req_1');
    const { settlement } = settleOf(owner, 'req_1', { cost: 7n });
    expect(await failureOf(ledger.settle({ ...settlement, durationMs: 1.5 }))).toBeInstanceOf(GatewayError);
    await until(() => ledger.waitingCount === 0);
    expect(await books.money(owner)).toEqual({ balance: 1000n, held: 10n });
    await abandonHoldsBefore(books.kysely, { nodeId: 'node_1', createdBeforeMs: Date.now() + 1, isRunning: () => false });
    expect(await ledger.recover()).toBe(1);
    expect(await books.money(owner)).toEqual({ balance: 993n, held: 0n });
    await books.expectSound();
  });

  test('an answer that its caller does not get is released', async () => {
    await hold('req_1');
    expect(await failureOf(settle('req_1', { ...spoil, isDelivered: false }))).toBeInstanceOf(GatewayError);
    await until(() => ledger.waitingCount === 0);
    expect(await books.money(owner)).toEqual({ balance: 1000n, held: 0n });
    expect(await books.usageOf('req_1')).toMatchObject({ cost: 0n, outcome: 'failed' });
    await books.expectSound();
  });

  test('a hold that cannot be written is refused, and those beside it are not', async () => {
    const bad = failureOf(ledger.hold({ ...holdOf(owner, 'req_bad', { amount: 1n }).hold, createdAtMs: 1.5 }));
    const good = await Promise.all(Array.from({ length: COUNT }, (_, index) => hold(`req_${index}`)));
    expect(good.map(({ type }) => type)).toEqual(good.map(() => 'held'));
    expect(await bad).toMatchObject({ errorName: 'ledger_unavailable' });
    await books.expectSound();
  });

  test('an account without a wallet does not stop others', async () => {
    await Promise.all([hold('req_1'), hold('req_2', other)]);
    await removeWallet(other);
    const [mine, theirs] = [settle('req_1', { cost: 3n }), failureOf(settle('req_2', { cost: 3n }, other))];
    expect(await mine).toBe('settled');
    expect(await theirs).toBeInstanceOf(GatewayError);
    expect(await books.money(owner)).toEqual({ balance: 997n, held: 0n });
  });

  test('recovery settles all holds but those that cannot be settled, reports these once, and tries them again', async () => {
    const dead = await books.openStore('node_dead');
    await dead.apply([holdOf(owner, 'req_1', { amount: 10n }), progressOf(owner, 'req_1', 4n), holdOf(other, 'req_2', { amount: 10n })]);
    await dead.apply([holdOf(owner, 'req_3', { amount: 10n }), progressOf(owner, 'req_3', 5n)]);
    const wallet = await books.kysely.selectFrom('wallets').selectAll().where('account_id', '=', other.accountId).executeTakeFirstOrThrow();
    await removeWallet(other);
    expect(await ledger.recover()).toBe(2);
    expect(reported).toEqual([{ type: 'recover', requestId: 'req_2' }]);
    expect(await books.money(owner)).toEqual({ balance: 991n, held: 0n });
    expect(await recover()).toEqual({ type: 'done', count: 0 });
    await books.kysely.insertInto('wallets').values(wallet).execute();
    expect(await recover()).toEqual({ type: 'done', count: 1 });
    expect(await books.money(other)).toEqual({ balance: 1000n, held: 0n });
  });

  test('an amount beyond the range of the database stops no other charge', async () => {
    await Promise.all([hold('req_1'), hold('req_2')]);
    const [bad, good] = [failureOf(settle('req_1', { cost: asNanos(TOO_LARGE) })), settle('req_2', { cost: 3n })];
    expect(await good).toBe('settled');
    expect(await bad).toBeInstanceOf(GatewayError);
  });
}

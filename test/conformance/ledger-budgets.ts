import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { ANY_ACCOUNT } from '../../src/accounts/keys.ts';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import { BUDGET_PERIODS, type BudgetPeriod, type LedgerStore, type OperationResult } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { extendOf, holdOf, releaseOf, settleOf, type Owner } from '../ledger/operations.ts';
import { Books, type LedgerDriver } from './ledger-driver.ts';

const exhausted = (period: BudgetPeriod, available: bigint, freeAtMs?: number): OperationResult => ({
  type: 'budget_exhausted',
  period,
  available: asNanos(available),
  ...(freeAtMs !== undefined && { freeAtMs }),
});
const held = (amount: bigint): OperationResult => ({ type: 'held', amount: asNanos(amount) });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Far in the future, because an extension uses the real clock. */
const FRIDAY = Date.UTC(2040, 2, 30, 12);
const SATURDAY = Date.UTC(2040, 2, 31, 0);
const SUNDAY_FIRST = Date.UTC(2040, 3, 1, 0);
const MONDAY = Date.UTC(2040, 3, 2, 0);

/** The daily, weekly, monthly and total budgets of a key. */
export function testBudgets(driver: LedgerDriver): void {
  let books: Books;
  let store: LedgerStore;
  let owner: Owner;
  let lastId = 0;

  beforeAll(async () => {
    books = await Books.open(driver);
    store = await books.openStore('node_1');
  });
  beforeEach(async () => {
    owner = await books.makeOwner(100_000n);
  });
  afterEach(() => books.expectSound());
  afterAll(() => books.close());

  const setBudgets = async (amounts: Partial<Record<BudgetPeriod, bigint>>): Promise<void> => {
    for (const [period, amount] of Object.entries(amounts))
      await books.keys.setBudget(owner.keyId, period as BudgetPeriod, asNanos(amount));
  };
  const nextId = (): string => `req_${(lastId += 1)}`;
  const hold = async (amount: bigint, createdAtMs: number, minimum = amount) =>
    (await store.apply([holdOf(owner, nextId(), { amount, minimum, createdAtMs })]))[0];
  /** Holds and settles at once. */
  const spend = async (amount: bigint, createdAtMs: number) => {
    const id = nextId();
    const operations = [holdOf(owner, id, { amount, createdAtMs }), settleOf(owner, id, { cost: amount, createdAtMs })];
    return (await store.apply(operations))[0];
  };
  const budgets = async () => {
    const rows = await books.kysely.selectFrom('key_budgets').selectAll().where('key_id', '=', owner.keyId).execute();
    return Object.fromEntries(rows.map(({ period, spent, held: open }) => [period, { spent, held: open }]));
  };

  const spentAfter = async (atMs: number) => {
    await spend(10n, atMs);
    return Object.fromEntries(Object.entries(await budgets()).map(([period, { spent }]) => [period, spent]));
  };

  const byOperator = () => ({ id: owner.keyId, accountId: ANY_ACCOUNT, actor: 'test' });
  const slowDown = () => books.keys.update(byOperator(), { atLimit: 'slow_down' });

  const setOften = async (): Promise<void> => {
    for (let amount = 10_000n; amount < 10_030n; amount += 1n) await setBudgets({ month: amount });
  };
  const spendOften = async (): Promise<void> => {
    for (let count = 0; count < 60; count += 1) await spend(1n, FRIDAY);
  };

  test.each(BUDGET_PERIODS)('a hold beyond the %s budget is refused with the remaining amount', async (period) => {
    await setBudgets({ [period]: 100n });
    expect(await hold(70n, FRIDAY)).toEqual(held(70n));
    expect(await hold(31n, FRIDAY)).toEqual(exhausted(period, 30n));
    expect(await hold(30n, FRIDAY)).toEqual(held(30n));
    expect(await budgets()).toEqual({ [period]: { spent: 0n, held: 100n } });
  });

  test('the budget with the least left decides', async () => {
    await setBudgets({ day: 500n, week: 400n, month: 300n, total: 450n });
    expect(await hold(5000n, FRIDAY, 1n)).toEqual(held(300n));
    expect(await hold(1n, FRIDAY)).toEqual(exhausted('month', 0n));
  });

  test('a hold is lowered to what the budget leaves if that covers the minimum', async () => {
    await setBudgets({ day: 100n });
    expect(await hold(5000n, FRIDAY, 60n)).toEqual(held(100n));
  });

  test('the balance is checked before the budgets', async () => {
    await setBudgets({ day: 10n });
    expect(await hold(100_001n, FRIDAY)).toEqual({ type: 'insufficient_funds', available: asNanos(100_000n) });
  });

  test('a free request passes an exhausted budget', async () => {
    await setBudgets({ total: 0n });
    expect(await hold(1n, FRIDAY)).toEqual(exhausted('total', 0n));
    expect(await hold(0n, FRIDAY)).toEqual(held(0n));
  });

  test('day, week and month windows end in UTC, and the total never does', async () => {
    await setBudgets({ day: 1000n, week: 1000n, month: 1000n, total: 1000n });
    expect(await spentAfter(FRIDAY)).toEqual({ day: 10n, week: 10n, month: 10n, total: 10n });
    expect(await spentAfter(SATURDAY - 1)).toEqual({ day: 20n, week: 20n, month: 20n, total: 20n });
    expect(await spentAfter(SATURDAY)).toEqual({ day: 10n, week: 30n, month: 30n, total: 30n });
    expect(await spentAfter(SUNDAY_FIRST)).toEqual({ day: 10n, week: 40n, month: 10n, total: 40n });
    expect(await spentAfter(MONDAY)).toEqual({ day: 10n, week: 10n, month: 20n, total: 50n });
  });

  test('an exhausted budget admits requests again in the next window', async () => {
    await setBudgets({ day: 100n });
    await spend(100n, FRIDAY);
    expect(await hold(1n, SATURDAY - 1)).toEqual(exhausted('day', 0n));
    expect(await hold(100n, SATURDAY)).toEqual(held(100n));
  });

  test('a hold outlives its window and is spent in the next', async () => {
    await setBudgets({ day: 100n });
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: 60n, createdAtMs: FRIDAY })]);
    expect(await hold(50n, SATURDAY)).toEqual(exhausted('day', 40n));
    await store.apply([settleOf(owner, id, { cost: 55n, createdAtMs: FRIDAY })]);
    expect(await budgets()).toEqual({ day: { spent: 55n, held: 0n } });
    expect(await hold(46n, SATURDAY)).toEqual(exhausted('day', 45n));
  });

  test('a late request of an old window does not reopen it', async () => {
    await setBudgets({ day: 100n });
    await spend(90n, SATURDAY);
    expect(await hold(11n, FRIDAY)).toEqual(exhausted('day', 10n));
    expect(await budgets()).toEqual({ day: { spent: 90n, held: 0n } });
  });

  test('a refusal by one budget still starts the new windows of the others', async () => {
    await setBudgets({ day: 100n, week: 1000n });
    await spend(90n, SATURDAY);
    expect(await hold(101n, MONDAY)).toEqual(exhausted('day', 100n));
    expect(await budgets()).toEqual({ day: { spent: 0n, held: 0n }, week: { spent: 0n, held: 0n } });
  });

  test('a settlement above its hold and a release count at their cost', async () => {
    await setBudgets({ total: 100n });
    const [above, released] = [nextId(), nextId()];
    await store.apply([holdOf(owner, above, { amount: 10n }), holdOf(owner, released, { amount: 90n })]);
    await store.apply([settleOf(owner, above, { cost: 120n }), releaseOf(owner, released)]);
    expect(await budgets()).toEqual({ total: { spent: 120n, held: 0n } });
    expect(await hold(1n, Date.now())).toEqual(exhausted('total', -20n));
  });

  test('an extension stays within the budgets', async () => {
    await setBudgets({ total: 100n });
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: 60n })]);
    expect(await store.apply([extendOf(owner, id, 101n), extendOf(owner, id, 100n)])).toEqual([{ type: 'refused' }, { type: 'extended' }]);
    expect(await budgets()).toEqual({ total: { spent: 0n, held: 100n } });
  });

  test('a budget set while requests run counts their holds', async () => {
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: 60n })]);
    await setBudgets({ total: 100n });
    expect(await hold(41n, Date.now())).toEqual(exhausted('total', 40n));
    await store.apply([settleOf(owner, id, { cost: 10n })]);
    expect(await budgets()).toEqual({ total: { spent: 10n, held: 0n } });
  });

  test('a changed budget keeps what was spent, and a removed one stops nothing', async () => {
    await setBudgets({ total: 100n });
    await spend(80n, FRIDAY);
    await setBudgets({ total: 90n });
    expect(await hold(11n, FRIDAY)).toEqual(exhausted('total', 10n));
    await books.keys.setBudget(owner.keyId, 'total', undefined);
    expect(await hold(11n, FRIDAY)).toEqual(held(11n));
  });

  test('the budgets of one key do not affect another', async () => {
    await setBudgets({ total: 0n });
    const other = { ...owner, keyId: (await books.keys.create(owner.accountId, { name: 'other' })).id };
    expect(await store.apply([holdOf(other, nextId(), { amount: 5n })])).toEqual([held(5n)]);
  });

  test('a key that slows down is admitted evenly at the end of a window, and learns when to retry', async () => {
    await slowDown();
    await setBudgets({ day: 1000n });
    expect(await spend(700n, SATURDAY)).toEqual(held(700n));
    expect(await hold(101n, SATURDAY)).toEqual(exhausted('day', 100n, SATURDAY + DAY_MS / 200));
    expect(await hold(101n, SATURDAY + DAY_MS / 200 - 1)).toMatchObject({ type: 'budget_exhausted' });
    expect(await hold(101n, SATURDAY + DAY_MS / 200)).toEqual(held(101n));
    expect(await hold(5000n, SATURDAY + DAY_MS / 2, 60n)).toEqual(held(99n));
    expect(await hold(1n, SATURDAY + DAY_MS / 2)).toEqual(exhausted('day', 0n, SATURDAY + DAY_MS / 2 + DAY_MS / 200));
    expect(await hold(301n, SATURDAY + DAY_MS / 2)).toEqual(exhausted('day', 0n));
  });

  test('a key that slows down stops at its total, where waiting does not help, and waits for its daily budget', async () => {
    await slowDown();
    await setBudgets({ day: 1000n, total: 750n });
    await spend(700n, SATURDAY);
    expect(await hold(60n, SATURDAY)).toEqual(exhausted('total', 50n));
    expect(await hold(120n, SATURDAY)).toEqual(exhausted('total', 50n));
    await setBudgets({ total: 5000n, month: 900n });
    expect(await hold(150n, SATURDAY)).toMatchObject({ period: 'day', freeAtMs: SATURDAY + DAY_MS / 4 });
  });

  test('two processes racing for a slowed key’s budget never hold more than it allows', async () => {
    await slowDown();
    await setBudgets({ day: 1000n });
    const [first, second] = [new GroupCommitLedger(store), new GroupCommitLedger(await books.openStore('node_2'))];
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, index) => {
        const { hold: request } = holdOf(owner, nextId(), { amount: 30n, createdAtMs: SATURDAY + DAY_MS / 2 });
        return (index % 2 === 0 ? first : second).hold(request);
      }),
    );
    expect(results.filter((result) => result.type === 'held')).toHaveLength(30);
    expect(await budgets()).toEqual({ day: { spent: 0n, held: 900n } });
  });

  test('an extension for a key that slows down waits too', async () => {
    await slowDown();
    await setBudgets({ month: 1000n });
    const id = nextId();
    await store.apply([holdOf(owner, id, { amount: 800n })]);
    expect(await store.apply([extendOf(owner, id, 1000n), extendOf(owner, id, 800n)])).toEqual([{ type: 'refused' }, { type: 'extended' }]);
  });

  test('paced amounts are exact to the last digit', async () => {
    const rich = await books.makeOwner(9_000_000_000_000_000_000n);
    await books.keys.update({ id: rich.keyId, accountId: ANY_ACCOUNT, actor: 'test' }, { atLimit: 'slow_down' });
    await books.keys.setBudget(rich.keyId, 'day', asNanos(9_000_000_000_000_000_003n));
    const [result] = await store.apply([
      holdOf(rich, nextId(), { amount: 9_000_000_000_000_000_000n, minimum: 1n, createdAtMs: SATURDAY + 1 }),
    ]);
    expect(result).toEqual(held(7_200_000_020_833_333_336n));
  });

  test('windows follow the key’s time zone, also across clock changes', async () => {
    await books.keys.update(byOperator(), { limitZone: 'Europe/Berlin' });
    await setBudgets({ day: 1000n, week: 1000n, month: 1000n });
    const springDay = Date.UTC(2040, 2, 25);
    expect(await spentAfter(springDay)).toEqual({ day: 10n, week: 10n, month: 10n });
    expect(await spentAfter(springDay + 22 * HOUR_MS - 1)).toEqual({ day: 20n, week: 20n, month: 20n });
    expect(await spentAfter(springDay + 22 * HOUR_MS)).toEqual({ day: 10n, week: 10n, month: 30n });
    expect(await spentAfter(SUNDAY_FIRST - 2 * HOUR_MS - 1)).toEqual({ day: 10n, week: 20n, month: 40n });
    expect(await spentAfter(SUNDAY_FIRST - 2 * HOUR_MS)).toEqual({ day: 10n, week: 30n, month: 10n });
  });

  test('a budget without a window end, as left by the previous version, keeps its count', async () => {
    await setBudgets({ day: 1000n, total: 1000n });
    await spend(90n, SATURDAY);
    const ofDay = books.kysely.updateTable('key_budgets').set({ window_end: 0 }).where('key_id', '=', owner.keyId);
    await ofDay.where('period', '=', 'day').execute();
    expect(await spentAfter(SATURDAY + 1)).toEqual({ day: 100n, total: 100n });
    expect(await spentAfter(SUNDAY_FIRST)).toEqual({ day: 10n, total: 110n });
  });

  test('an unknown time zone counts as UTC, and stops no other request', async () => {
    await setBudgets({ day: 1000n });
    await books.kysely.updateTable('key_budgets').set({ zone: 'Moon/Crater' }).where('key_id', '=', owner.keyId).execute();
    await spend(90n, SATURDAY - 1);
    expect(await spentAfter(SATURDAY)).toEqual({ day: 10n });
  });

  test('can be set while the ledger writes at full speed', async () => {
    await Promise.all([setOften(), spendOften()]);
    const [row] = await books.kysely.selectFrom('key_budgets').selectAll().where('key_id', '=', owner.keyId).execute();
    expect(row?.amount).toBe(10_029n);
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { closeAccount } from '../../src/dashboard/people/close.ts';
import { inTransaction } from '../../src/database/in-transaction.ts';
import { lockWallet } from '../../src/ledger/credit.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { MoneyStage, usd, type Customer } from '../conformance/money-in/stage.ts';
import { postgres } from '../ledger/postgres-driver.ts';
import { postgresUrl } from '../services/postgres.ts';
import { until } from '../until.ts';

const PLAN = 'plan';

describe.skipIf(postgresUrl === undefined)('transactions on PostgreSQL', () => {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(postgres);
    await stage.makePlan(PLAN);
  });
  afterAll(() => stage.close());

  const changeBudget = ({ keyId }: Customer, nanos: bigint) => stage.books.keys.setBudget(keyId, 'day', asNanos(nanos));
  const assign = ({ accountId }: Customer) => stage.subscriptions.assign(accountId, PLAN, { nowMs: stage.nowMs });
  const close = ({ accountId }: Customer) => closeAccount(stage.books.kysely, 'nobody', accountId);

  async function countWaiting(): Promise<bigint | undefined> {
    const { rows } = await sql<{ count: bigint }>`
      SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(stage.books.kysely);
    return rows[0]?.count;
  }

  test.each<[string, (customer: Customer) => Promise<unknown>]>([
    ['creates a key with a budget', ({ accountId }) => stage.books.keys.create(accountId, { name: 'b', budgets: { day: asNanos(1n) } })],
    ['creates a key in the dashboard', ({ accountId }) => stage.books.keys.createWithinLimit(accountId, { name: 'b' }, 'test')],
    ['changes a budget', (customer) => changeBudget(customer, 5n)],
    [
      'buys a plan',
      ({ accountId }) =>
        stage.subscriptions.order({ type: 'subscribe', planId: PLAN }, { accountId, nowMs: stage.nowMs, paysBy: 'balance' }),
    ],
    ['assigns a plan', assign],
    ['closes an account', close],
  ])('one that %s waits for the wallet before it makes others wait', async (_, work) => {
    const customer = await stage.makeCustomer(usd('50'));
    const other = new Client({ connectionString: stage.books.place.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM wallets WHERE account_id = $1 FOR UPDATE', [customer.accountId]);
    const working = work(customer);
    await until(async () => (await countWaiting()) === 1n);
    // All changes of keys, accounts and plans need this row.
    const free = await other.query('SELECT 1 FROM changes FOR UPDATE SKIP LOCKED');
    await other.query('COMMIT');
    await other.end();
    await working;
    expect(free.rowCount).toBe(1);
  });

  test('none fails while plans, budgets and accounts change at the same moment', async () => {
    const customers = await Promise.all(Array.from({ length: 4 }, () => stage.makeCustomer(usd('50'))));
    const turns = async (work: (customer: Customer, turn: number) => Promise<unknown>): Promise<void> => {
      for (let turn = 0; turn < 15; turn += 1) for (const customer of customers) await work(customer, turn);
    };
    await Promise.all([
      turns(assign),
      turns((customer, turn) => changeBudget(customer, BigInt(turn + 1))),
      turns(async ({ accountId }, turn) => stage.subscriptions.setUse(accountId, turn % 2 === 0 ? 'balance' : 'plan')),
      turns(async () => close(await stage.makeCustomer(usd('1')))),
    ]);
    await stage.books.expectSound();
  });

  test('two that wait for each other both succeed', async () => {
    const [one, two] = await Promise.all([stage.makeCustomer(), stage.makeCustomer()]);
    let locked = 0;
    const tries = [0, 0];
    const lockBoth = (index: 0 | 1, [first, second]: readonly [Customer, Customer]) =>
      inTransaction(stage.books.kysely, async (transaction) => {
        tries[index] = (tries[index] ?? 0) + 1;
        await lockWallet(transaction, first.accountId);
        locked += 1;
        await until(() => locked >= 2);
        await lockWallet(transaction, second.accountId);
        return index;
      });
    expect(await Promise.all([lockBoth(0, [one, two]), lockBoth(1, [two, one])])).toEqual([0, 1]);
    expect(tries.reduce((sum, count) => sum + count)).toBe(3);
  });

  test('one that loses every conflict fails in the end', async () => {
    let tries = 0;
    const losing = inTransaction(stage.books.kysely, async (transaction) => {
      tries += 1;
      await sql`DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$`.execute(transaction);
    });
    expect(await losing.catch((error: unknown) => (error as Error).message)).toBe('lost');
    expect(tries).toBe(10);
  });
});

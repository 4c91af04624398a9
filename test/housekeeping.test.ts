import { expect, spyOn, test } from 'bun:test';
import { loadConfig } from '../src/config.ts';
import { abandonOldHolds, startHousekeeping, longestRequest, verifyChanged } from '../src/housekeeping.ts';
import { GatewayError } from '../src/errors.ts';
import { GroupCommitLedger } from '../src/ledger/group-commit.ts';
import { Books } from './conformance/ledger-driver.ts';
import { holdOf } from './ledger/operations.ts';
import { sqlite } from './ledger/sqlite-driver.ts';

test('accounts whose verification fails are verified again next time', async () => {
  const books = await Books.open(sqlite);
  // There is nothing to verify in an empty database, not even tables.
  const config = { ...loadConfig({}), databasePath: ':memory:' };
  const ledger = new GroupCommitLedger({ apply: async () => [], close: async () => undefined } as never);
  const changed = { accountIds: ['acct_one', 'acct_two'], sinceMs: Date.now() - 60_000 };
  ledger.markChanged(changed);
  const house = { config, ledger, database: { kysely: books.kysely, dialect: 'sqlite' } } as unknown as Parameters<typeof verifyChanged>[0];
  expect(await verifyChanged(house).catch(() => 'failed')).toBe('failed');
  expect(ledger.takeChanged()).toEqual(changed);
  await books.close();
});

test('a hold that is older than any request and has no running one raises an alert', async () => {
  const books = await Books.open(sqlite);
  const owner = await books.makeOwner(1000n);
  const store = await books.openStore('node_one');
  const config = loadConfig({});
  const oldMs = Date.now() - longestRequest(config) - 1000;
  const old = ['req_old', 'req_running'].map((id) => holdOf(owner, id, { amount: 1n, createdAtMs: oldMs }));
  await store.apply([...old, holdOf(owner, 'req_new', { amount: 1n })]);
  const reported: unknown[] = [];
  // This request still runs: it only looks old because the clock was set forward.
  const calls = new Set([{ id: 'req_running' }]);
  const house = { config, nodeId: 'node_one', database: books, calls, log: { ledgerDiffers: (facts: unknown) => reported.push(facts) } };
  for (const _ of [1, 2]) await abandonOldHolds(house as unknown as Parameters<typeof abandonOldHolds>[0]);
  expect(reported).toEqual([{ rule: 'R5 no hold is older than the longest request', difference: '1', places: ['req_old'] }]);
  expect(await store.apply([{ type: 'recover' }])).toEqual([{ type: 'done', count: 1 }]);
  expect(await books.money(owner)).toEqual({ balance: 1000n, held: 2n });
  await books.close();
});

test('a start that cannot write the ledger fails with the error of the database', async () => {
  const cause = new Error('cannot execute INSERT in a read-only transaction');
  const ledger = { recover: () => Promise.reject(new GatewayError('ledger_unavailable', 'Try again shortly.', { cause })) };
  const started = startHousekeeping({ ledger, database: {} } as unknown as Parameters<typeof startHousekeeping>[0]);
  expect(await started.catch((error: unknown) => (error as Error).message)).toBe(`The ledger cannot be written: ${cause.message}.`);
});

const fail = (): Promise<never> => Promise.reject(new Error('The database is unreachable'));

test('each failing background task is logged under its own name, one turn at a time', async () => {
  const turns: (() => void)[] = [];
  const interval = spyOn(globalThis, 'setInterval').mockImplementation(((turn: () => void) => turns.push(turn)) as never);
  const logged: string[] = [];
  let isStarted = false;
  const ledger = {
    recover: () => (isStarted ? fail() : Promise.resolve(0)),
    expire: fail,
    prune: fail,
    takeChanged: () => {
      throw new Error('Nobody knows');
    },
  };
  const parts = {
    money: { followUp: fail, topUp: fail, forgetCustomers: fail, renew: fail, prune: fail },
    carried: { prune: fail },
    keyUses: { write: fail },
    contents: { prune: fail },
    refusals: { prune: fail },
  };
  const house = { ...parts, ledger, config: { usageDays: 1 }, database: {}, log: { internalError: (event: string) => logged.push(event) } };
  await startHousekeeping(house as unknown as Parameters<typeof startHousekeeping>[0]);
  interval.mockRestore();
  isStarted = true;
  for (const turn of [...turns, ...turns]) turn();
  await Bun.sleep(0);
  expect(turns).toHaveLength(17);
  expect(logged).toHaveLength(turns.length);
  expect(new Set(logged).size).toBe(turns.length);
});

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { Accounts, availableOf, type Account } from '../../src/accounts/accounts.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openKysely } from '../../src/database/kysely.ts';
import { lockDataFolder } from '../../src/database/sqlite.ts';
import type { Tables } from '../../src/database/tables.ts';
import type { Ledger, Settlement } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { NO_TOKENS } from '../../src/tokens.ts';

const EMAIL = 'owner@example.com';

describe('the ledger on SQLite', () => {
  let folder: string;
  let database: Kysely<Tables>;
  let accounts: Accounts;
  let ledger: Ledger;
  let account: Account;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
    database = openKysely(join(folder, 'tollgate.db'));
    await migrate(database);
    accounts = new Accounts(database);
    const created = await accounts.create(EMAIL, false);
    if (created === undefined) throw new Error('the account was not made');
    account = created;
    await accounts.credit(account, asNanos(1000n), 'test');
    ledger = await openSqliteLedger(join(folder, 'tollgate.db'));
  });

  afterEach(async () => {
    await ledger.close();
    await database.destroy();
    rmSync(folder, { recursive: true });
  });

  const hold = (requestId: string, amount: bigint, minimum = amount) =>
    ledger.hold({ requestId, accountId: account.id, amount: asNanos(amount), minimum: asNanos(minimum) });
  const settle = (requestId: string, cost: bigint) => ledger.settle(settlement(account.id, requestId, cost));
  /** Held amounts reach the database, for people to look at, within this time. */
  const publishedMs = 600;
  const money = async () => {
    await Bun.sleep(publishedMs);
    const found = await accounts.find(EMAIL);
    if (found === undefined) throw new Error('the account is gone');
    return { balance: found.balance as bigint, held: found.held as bigint, available: availableOf(found) as bigint };
  };

  test('a hold takes from what is available and a settlement charges the real cost', async () => {
    expect(await hold('req_1', 600n)).toEqual({ type: 'held', amount: asNanos(600n) });
    expect(await money()).toEqual({ balance: 1000n, held: 600n, available: 400n });
    await settle('req_1', 250n);
    expect(await money()).toEqual({ balance: 750n, held: 0n, available: 750n });
  });

  test('a hold beyond what is available is refused and says what there is', async () => {
    await hold('req_1', 600n);
    expect(await hold('req_2', 401n)).toEqual({ type: 'insufficient_funds', available: asNanos(400n) });
    expect(await money()).toEqual({ balance: 1000n, held: 600n, available: 400n });
  });

  test('a hold with a lower minimum takes what is there', async () => {
    expect(await hold('req_1', 5000n, 10n)).toEqual({ type: 'held', amount: asNanos(1000n) });
    expect(await hold('req_2', 5000n, 10n)).toEqual({ type: 'insufficient_funds', available: asNanos(0n) });
  });

  test('what costs nothing is held whatever the balance', async () => {
    await hold('req_1', 1000n);
    expect(await hold('req_2', 0n)).toEqual({ type: 'held', amount: asNanos(0n) });
  });

  test('settling twice charges once', async () => {
    await hold('req_1', 600n);
    await Promise.all([settle('req_1', 100n), settle('req_1', 100n), settle('req_1', 100n)]);
    expect(await money()).toEqual({ balance: 900n, held: 0n, available: 900n });
    expect(await database.selectFrom('usage').selectAll().execute()).toHaveLength(1);
  });

  test('a cost above the hold is charged in full', async () => {
    await hold('req_1', 10n);
    await settle('req_1', 1200n);
    expect(await money()).toEqual({ balance: -200n, held: 0n, available: 0n });
    expect(await hold('req_2', 1n)).toEqual({ type: 'insufficient_funds', available: asNanos(-200n) });
  });

  test('two hundred holds at once never take more than there is', async () => {
    const results = await Promise.all(Array.from({ length: 200 }, (_, index) => hold(`req_${index}`, 30n)));
    expect(results.filter((result) => result.type === 'held')).toHaveLength(33);
    expect((await money()).available).toBe(10n);
  });

  test('credit given by another connection in between is not lost', async () => {
    await Promise.all([
      ...Array.from({ length: 50 }, async (_, index) => {
        await hold(`req_${index}`, 1n);
        await settle(`req_${index}`, 1n);
      }),
      ...Array.from({ length: 50 }, () => accounts.credit(account, asNanos(2n), 'more')),
    ]);
    expect(await money()).toEqual({ balance: 1050n, held: 0n, available: 1050n });
  });

  test('holds that a crash left behind are given back at the next start', async () => {
    await hold('req_1', 600n);
    expect((await money()).held).toBe(600n);
    const second = await openSqliteLedger(join(folder, 'tollgate.db'));
    expect(await database.selectFrom('wallets').select('held').executeTakeFirst()).toEqual({ held: 0n });
    await second.close();
  });

  test('credit given by another process is seen after a refresh', async () => {
    await hold('req_1', 1000n);
    await accounts.credit(account, asNanos(500n), 'more');
    ledger.refresh();
    expect(await hold('req_2', 500n)).toEqual({ type: 'held', amount: asNanos(500n) });
  });

  test('a charge that was committed before is not made again by another ledger', async () => {
    await hold('req_1', 100n);
    await settle('req_1', 100n);
    await hold('req_1', 100n);
    await settle('req_1', 100n);
    expect((await money()).balance).toBe(900n);
  });

  test('a second server on the same data folder is locked out until the first ends', () => {
    const first = lockDataFolder(folder);
    expect(first).toBeDefined();
    expect(lockDataFolder(folder)).toBeUndefined();
    first?.unlock();
    const third = lockDataFolder(folder);
    expect(third).toBeDefined();
    third?.unlock();
  });
});

function settlement(accountId: string, requestId: string, cost: bigint): Settlement {
  return {
    requestId,
    accountId,
    keyId: 'key_1',
    model: 'mock/gpt',
    provider: 'mock',
    usage: NO_TOKENS,
    isEstimated: false,
    cost: asNanos(cost),
    outcome: 'completed',
    durationMs: 5,
    createdAtMs: 1,
  };
}

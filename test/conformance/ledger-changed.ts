import { afterEach, beforeEach, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { loadConfig } from '../../src/config.ts';
import { recover, verifyChanged } from '../../src/housekeeping.ts';
import { readMovedAccounts } from '../../src/ledger/changed-accounts.ts';
import { postDebit } from '../../src/ledger/credit.ts';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { holdOf, progressOf } from '../ledger/operations.ts';
import { Books, type LedgerDriver } from './ledger-driver.ts';
import { MoneyStage, usd } from './money-in/stage.ts';

/** Which accounts the verification in the background looks at. */
export function testChangedAccounts(driver: LedgerDriver): void {
  let books: Books;
  let house: Parameters<typeof verifyChanged>[0];
  const reported: { readonly rule: string; readonly places: readonly string[] }[] = [];

  beforeEach(async () => {
    books = await Books.open(driver);
    reported.length = 0;
    house = {
      config: { ...loadConfig({}), databasePath: books.place.databasePath },
      nodeId: 'node_next',
      database: { kysely: books.kysely, dialect: driver.dialect },
      ledger: new GroupCommitLedger(await books.openStore('node_next')),
      log: { ledgerDiffers: (facts: (typeof reported)[number]) => reported.push(facts), lifecycle: () => undefined },
      metrics: { verified: () => undefined, recovered: () => undefined },
    } as unknown as Parameters<typeof verifyChanged>[0];
  });
  afterEach(async () => {
    await house.ledger.close();
    await books.close();
  });

  /** Returns the rules that are reported, all about this account. */
  const differing = async (accountId: string): Promise<string[]> => {
    await verifyChanged(house);
    expect(reported.flatMap(({ places }) => places)).toEqual(reported.map(() => accountId));
    return reported.map(({ rule }) => rule.slice(0, 2));
  };

  test('an account whose money another process moved is verified, and no other', async () => {
    const [other, moved] = [await books.makeOwner(100n), await books.makeOwner(100n)];
    await sql`UPDATE transfers SET created_at = created_at - 3600000 WHERE credit = ${`wallet:${other.accountId}`}`.execute(books.kysely);
    await sql`UPDATE wallets SET credits_posted = credits_posted + 1`.execute(books.kysely);
    expect(await differing(moved.accountId)).toEqual(['R1', 'R3']);
  });

  test('an account whose request a dead process left open is verified', async () => {
    const owner = await books.makeOwner(1000n);
    await sql`UPDATE transfers SET created_at = created_at - 3600000`.execute(books.kysely);
    const dead = await books.openStore('node_dead');
    await dead.apply([holdOf(owner, 'req_1', { amount: 600n }), progressOf(owner, 'req_1', 250n)]);
    await verifyChanged(house);
    await recover(house);
    await sql`UPDATE wallets SET credits_posted = credits_posted + 1`.execute(books.kysely);
    expect(await differing(owner.accountId)).toEqual(['R1', 'R3']);
  });

  test('money moves by credit, corrections, expiry, payments, promo codes and plans', async () => {
    const stage = await MoneyStage.open(driver);
    const { kysely } = stage.books;
    const ways: Record<string, (customer: Awaited<ReturnType<MoneyStage['makeCustomer']>>) => Promise<unknown>> = {
      credit: (customer) => stage.books.credit(customer, 1n),
      correction: ({ accountId }) =>
        postDebit(kysely, { accountId, amount: asNanos(1n), house: 'promo_expense', kind: 'manual', source: 'wrong', reason: '' }),
      expiry: () => stage.expireWithin(2),
      payment: (customer) => stage.topUp(customer),
      promo: async (customer) => stage.redeem(customer, await stage.makeCode({ kind: 'credit', amount: usd('5') })),
      plan: async ({ accountId }) => {
        await stage.makePlan('basic', { price: usd('1') });
        await stage.subscriptions.order({ type: 'subscribe', planId: 'basic' }, { accountId, nowMs: stage.nowMs, paysBy: 'balance' });
      },
    };
    for (const [way, move] of Object.entries(ways)) {
      const customer = await stage.makeCustomer(usd('10'));
      if (way === 'expiry') await stage.books.credit(customer, 5n, { expiresAtMs: stage.nowMs + 86_400_000 });
      await sql`UPDATE transfers SET created_at = 0`.execute(kysely);
      await move(customer);
      expect([way, await readMovedAccounts(kysely, stage.nowMs - 60_000)]).toEqual([way, [customer.accountId]]);
    }
    await stage.close();
  });
}

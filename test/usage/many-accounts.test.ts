import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { OpenDatabase } from '../../src/database/connect.ts';
import { partsOf } from '../../src/database/parts-of.ts';
import { DAY_MS } from '../../src/durations.ts';
import { ROLLUP_SUMS } from '../../src/ledger/checks.ts';
import { HistoryKeeper } from '../../src/usage/history-keeper.ts';
import type { RollupSum } from '../../src/usage/sums.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

const ACCOUNTS = 4500;
const DAYS = 60;
const QUARTER_MS = 900_000;

/** Adds an account with some requests in one quarter hour of every day. */
async function addUsage({ kysely }: OpenDatabase, accountId: string, requests: number): Promise<void> {
  const firstMs = Math.floor(Date.now() / DAY_MS - DAYS - 1) * DAY_MS;
  await kysely.insertInto('accounts').values({ id: accountId, email: accountId, status: 'active', is_admin: 0, created_at: 0 }).execute();
  const sums = Object.fromEntries(ROLLUP_SUMS.map((name) => [name, 1])) as Record<RollupSum, number>;
  const place = { account_id: accountId, key_id: 'key_1', model: 'maker/model', provider: 'north' };
  // At other times of the day, so that no two days look alike.
  const timeOf = (day: number): number => firstMs + day * DAY_MS + (day % 96) * QUARTER_MS;
  await kysely
    .insertInto('usage_rollups')
    .values(Array.from({ length: DAYS }, (_, day) => ({ ...place, ...sums, requests, quarter_hour: timeOf(day) })))
    .execute();
}

async function sweep(database: OpenDatabase): Promise<void> {
  await new HistoryKeeper(database, (_, error) => expect(error).toBeUndefined()).sweep();
}

/** Counts how often some work writes sums. */
async function countWrites(database: OpenDatabase, work: (counted: OpenDatabase) => Promise<unknown>): Promise<number> {
  let writes = 0;
  const kysely = database.kysely.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'RawNode' && node.sqlFragments[0]?.startsWith('INSERT INTO usage_past ') === true) writes += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await work({ ...database, kysely });
  return writes;
}

eachStore((database) => {
  test('other work gets its turn while idle accounts are looked through, however many there are', async () => {
    const { kysely } = database();
    const rest = { status: 'active', is_admin: 0, created_at: 0 } as const;
    const accounts = Array.from({ length: ACCOUNTS }, (_, n) => ({ id: `acct_${n}`, email: `user${n}@example.com`, ...rest }));
    for (const part of partsOf(accounts)) await kysely.insertInto('accounts').values(part).execute();
    const failures: unknown[] = [];
    const keeper = new HistoryKeeper(database(), (_, error) => void failures.push(error));
    expect(await turnsDuring(() => keeper.sweep())).toBeGreaterThanOrEqual(4);
    expect(failures).toEqual([]);
  });

  test('the history of a quiet account is summed in one step on each grid, that of a busy one day by day', async () => {
    await addUsage(database(), 'acct_quiet', 1);
    expect(await countWrites(database(), sweep)).toBe(2);
    await addUsage(database(), 'acct_busy', 100_000);
    expect(await countWrites(database(), sweep)).toBe(2 * DAYS);
    const sums = database()
      .kysely.selectFrom('usage_past')
      .select(({ fn }) => ['account_id', 'grid', fn.sum<bigint>('requests').as('sum')]);
    const rows = await sums
      .where('dimension', '=', 'model')
      .groupBy(['account_id', 'grid'])
      .orderBy('account_id')
      .orderBy('grid')
      .execute();
    const summed = rows.map(({ account_id: id, grid, sum }) => [id, grid, Number(sum)]);
    expect(summed).toEqual([
      ['acct_busy', 'day+0', DAYS * 100_000],
      ['acct_busy', 'hour+0', DAYS * 100_000],
      ['acct_quiet', 'day+0', DAYS],
      ['acct_quiet', 'hour+0', DAYS],
    ]);
  }, 120_000);

  test('accounts that were closed lately are found without reading all others', async () => {
    const { kysely, dialect } = database();
    const explain = sql.raw(dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN');
    const { rows } = await sql`${explain} SELECT id FROM accounts WHERE closed_at > 1`.execute(kysely);
    expect(rows.map((row) => Object.values(row as object).join(' ')).join('\n')).toContain('accounts_closed');
  });
});

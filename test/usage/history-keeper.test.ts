import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from 'bun:test';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { readDays, readSpend } from '../../src/usage/key-usage.ts';
import { readUsedNames } from '../../src/usage/names.ts';
import { HistoryKeeper, startHistoryClock } from '../../src/usage/history-keeper.ts';
import { HOURS, UTC_DAYS } from '../../src/usage/grid.ts';
import { advanceHistory } from '../../src/usage/history.ts';
import { readStatement } from '../../src/ledger/statement.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { SEEDED_KEYS, seedUsage } from './seed-usage.ts';
import { until } from '../until.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const accountId = 'acct_kept';

describeStores((makeStore) => {
  let store: Store;
  let database: OpenDatabase;
  const failures: unknown[] = [];
  const fail = (_: string, error: unknown): void => void failures.push(error);

  beforeAll(async () => {
    store = await makeStore();
    database = await connect(store);
    await migrate(database.kysely, database.dialect);
    await seedUsage(database, { accountId, rows: 3000, fromMs: NOW_MS - 5 * DAY_MS, toMs: NOW_MS });
  }, 120_000);
  afterEach(() => void setSystemTime());
  afterAll(async () => {
    expect(failures).toEqual([]);
    await database.kysely.destroy();
    await store.remove();
  });

  const grids = async (): Promise<string[]> =>
    (await database.kysely.selectFrom('usage_past_until').select('grid').where('until', '>', 0n).orderBy('grid').execute()).map(
      ({ grid }) => grid,
    );

  test('key spending and used names are the same before and after history is summed', async () => {
    const read = async () => [
      await readSpend(database, accountId, { zone: 'UTC' }),
      await readSpend(database, accountId, { zone: 'Asia/Kathmandu' }),
      await readDays(database, { accountId, id: SEEDED_KEYS[0] ?? '' }, { zone: 'Europe/Berlin', days: 30 }),
      await readUsedNames(database.kysely, accountId),
    ];
    const before = await read();
    await new HistoryKeeper(database, fail).sweep();
    expect(await grids()).toEqual(['day+0', 'hour+0']);
    expect(await read()).toEqual(before);
  }, 120_000);

  test('days and hours of a zone are summed from the first look at them', async () => {
    const keeper = new HistoryKeeper(database, fail);
    // Midnight in Kathmandu.
    const fromMs = Math.floor(NOW_MS / DAY_MS) * DAY_MS - 4 * DAY_MS + 18.25 * 3_600_000;
    keeper.touch(accountId, [
      { fromMs, toMs: fromMs + DAY_MS },
      { fromMs, toMs: fromMs + 3_600_000 },
    ]);
    await until(async () => (await grids()).length >= 4);
    expect(await grids()).toEqual(['day+0', 'day+73', 'hour+0', 'hour+1']);
  }, 120_000);

  test('days of only a limited number of zones are summed', async () => {
    const keeper = new HistoryKeeper(database, fail);
    const startMs = Math.floor(NOW_MS / DAY_MS) * DAY_MS - 3 * DAY_MS;
    const spans = Array.from({ length: 90 }, (_, quarter) => startMs + quarter * 900_000).map((fromMs) => ({
      fromMs,
      toMs: fromMs + DAY_MS,
    }));
    keeper.touch(accountId, spans);
    await keeper.sweep();
    await until(async () => (await grids()).length >= 12);
    // Enough time for one more, which must not come.
    await Bun.sleep(500);
    expect((await grids()).length).toBe(12);
  }, 120_000);

  test('after a clock that was ahead is set right, new usage is in the sums again', async () => {
    const ahead = 'acct_ahead';
    // Reports read the last hour from its sum only when it ends with the current quarter.
    const nowMs = NOW_MS - (NOW_MS % 3_600_000) + 50 * 60_000;
    setSystemTime(nowMs);
    await seedUsage(database, { accountId: ahead, rows: 300, fromMs: NOW_MS - 3 * DAY_MS, toMs: NOW_MS + 3 * DAY_MS, seed: 3 });
    for (const grid of [HOURS, UTC_DAYS])
      while ((await advanceHistory(database, { accountId: ahead, grid, nowMs: NOW_MS + 4 * DAY_MS })) === 'behind');
    const quarter = await database.kysely
      .selectFrom('usage_rollups')
      .selectAll()
      .where('account_id', '=', ahead)
      .where('quarter_hour', '>', BigInt(NOW_MS))
      .executeTakeFirstOrThrow();
    const nowQuarter = BigInt(nowMs - (nowMs % 900_000));
    await database.kysely
      .insertInto('usage_rollups')
      .values({ ...quarter, model: 'late/model', quarter_hour: nowQuarter })
      .execute();
    const read = async () => [
      await readSpend(database, ahead, { zone: 'UTC' }),
      await readDays(database, { accountId: ahead, id: quarter.key_id }, { zone: 'UTC', days: 3 }),
      await readStatement(database.kysely, ahead, { linesMax: 50, kinds: ['usage'] }),
    ];
    const missing = await read();
    await new HistoryKeeper(database, fail).sweep();
    const summed = await read();
    for (const table of ['usage_past_until', 'usage_past', 'balance_marks'] as const)
      await database.kysely.deleteFrom(table).where('account_id', '=', ahead).execute();
    expect(summed).toEqual(await read());
    expect(summed).not.toEqual(missing);
  }, 120_000);

  test('a stopped clock leaves the rest for another time', async () => {
    const left = 'acct_left';
    await seedUsage(database, { accountId: left, rows: 100, fromMs: NOW_MS - 5 * DAY_MS, toMs: NOW_MS });
    const summed = async (): Promise<boolean> =>
      (await database.kysely.selectFrom('usage_past_until').select('grid').where('account_id', '=', left).execute()).length > 0;
    const clock = startHistoryClock(new HistoryKeeper(database, fail));
    await clock.stop();
    expect(await summed()).toBe(false);
    await new HistoryKeeper(database, fail).sweep();
    expect(await summed()).toBe(true);
  }, 120_000);

  test('a stopped keeper no longer uses its database; a running one reports that it is closed', async () => {
    const own = await connect(store);
    const reported: string[] = [];
    const openKeeper = (): HistoryKeeper => new HistoryKeeper(own, (event) => reported.push(event));
    const stopped = openKeeper();
    stopped.touch(accountId, []);
    await stopped.stop();
    await own.kysely.destroy();
    stopped.touch('acct_other', []);
    await stopped.stop();
    expect(reported).toEqual([]);
    await openKeeper().sweep();
    expect(reported).toEqual(['usage history could not be summed']);
  }, 120_000);
});

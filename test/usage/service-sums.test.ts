import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { idAt } from '../../src/ids.ts';
import { gridFrom, HOURS, UTC_DAYS } from '../../src/usage/grid.ts';
import { HistoryKeeper } from '../../src/usage/history-keeper.ts';
import { advanceService, WHOLE_SERVICE } from '../../src/usage/service-history.ts';
import { readActiveAccounts, readServiceSums } from '../../src/usage/service-sums.ts';
import type { RequestFilter } from '../../src/usage/request-filter.ts';
import { readRequests } from '../../src/usage/requests.ts';
import { addAll, addFound, readSums } from '../../src/usage/sums.ts';
import { cutIntoBuckets, startOf, type Span } from '../../src/usage/zone.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { SEEDED_MODELS, seedUsage } from './seed-usage.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const ZONE = 'Asia/Kathmandu';
const ACCOUNTS = ['acct_one', 'acct_two'];
const TEST_MS = 120_000;
const CHUNKS_MAX = 500;

describeStores((makeStore) => {
  let store: Store;
  let database: OpenDatabase;

  beforeAll(async () => {
    store = await makeStore();
    database = await connect(store);
    await migrate(database.kysely, database.dialect);
    for (const [index, accountId] of ACCOUNTS.entries())
      await seedUsage(database, { accountId, rows: 1500, fromMs: NOW_MS - 8 * DAY_MS - index, toMs: NOW_MS, seed: index * 77 + 1 });
  }, TEST_MS);
  afterAll(async () => {
    await database.kysely.destroy();
    await store.remove();
  });

  const toMs = Math.ceil(NOW_MS / 900_000) * 900_000;
  const spansOf = (zone: string): Span[] =>
    cutIntoBuckets({ fromMs: startOf('day', startOf('day', NOW_MS, zone) - 5.5 * DAY_MS, zone), toMs }, 'day', zone);

  /** By span, model and provider, in a fixed order. */
  const readAll = async (spans: readonly Span[]) => {
    const found = await readServiceSums(database, spans);
    const groups = Map.groupBy(found, ({ n, model, provider }) => `${n} ${model} ${provider}`);
    const sums = [...groups].map(([place, cells]) => [place, addAll(cells.map((cell) => cell.sums))] as const);
    const { count, top } = await readActiveAccounts(database, spans, { rowsMax: 10, nowMs: NOW_MS });
    return {
      sums: sums.toSorted(([one], [other]) => (one < other ? -1 : 1)),
      count,
      accounts: top.toSorted((one, other) => (one.accountId < other.accountId ? -1 : 1)),
    };
  };

  test(
    'the sums of all accounts equal those of each account added up, before and after history is summed',
    async () => {
      for (const zone of ['UTC', ZONE]) {
        const spans = spansOf(zone);
        const before = await readAll(spans);
        for (const grid of [HOURS, UTC_DAYS, gridFrom('day', spans[1]?.fromMs ?? 0)]) await advanceAll(database, grid);
        const after = await readAll(spans);
        expect(after).toEqual(before);
        const own = await Promise.all(ACCOUNTS.map((accountId) => readSums(database, { accountId, spans, by: [], filter: {} })));
        const each = own.map((bySpan) => addAll(bySpan.map(addFound)));
        expect(addAll(after.sums.map(([, sums]) => sums))).toEqual(addAll(each));
        expect(after.accounts).toEqual(
          ACCOUNTS.map((accountId, index) => ({
            accountId,
            requests: each[index]?.requests ?? 0,
            cost: each[index]?.cost ?? (0n as never),
          })),
        );
      }
    },
    TEST_MS,
  );

  test('history is read from its sums, and hourly sums of accounts are not kept for long', async () => {
    const { kysely } = database;
    const { count } = await kysely
      .selectFrom('usage_past')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('account_id', '=', WHOLE_SERVICE)
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBeGreaterThan(0);
    const oldest = await kysely
      .selectFrom('account_past')
      .select('start_at')
      .where('grid', '=', 'hour+0')
      .orderBy('start_at')
      .executeTakeFirst();
    expect(Number(oldest?.start_at)).toBeGreaterThan(NOW_MS - 4 * DAY_MS);
  });

  test(
    'after a clock that was ahead is set right, everything is summed again',
    async () => {
      const before = await readAll(spansOf('UTC'));
      const aheadMs = NOW_MS + 60 * DAY_MS;
      await seedUsage(database, { accountId: 'acct_ahead', rows: 20, fromMs: aheadMs - DAY_MS, toMs: aheadMs, seed: 5 });
      for (const grid of [HOURS, UTC_DAYS]) await advanceAll(database, grid, aheadMs + DAY_MS);
      expect(await readAll(spansOf('UTC'))).not.toEqual(before);
      for (const grid of [HOURS, UTC_DAYS]) await advanceAll(database, grid);
      expect(await readAll(spansOf('UTC'))).toEqual(before);
      await database.kysely.deleteFrom('usage').where('account_id', '=', 'acct_ahead').execute();
      await database.kysely.deleteFrom('usage_rollups').where('account_id', '=', 'acct_ahead').execute();
    },
    TEST_MS,
  );

  test('lists of all accounts find the same with and without the sums', async () => {
    const span = { fromMs: NOW_MS - 6.3 * DAY_MS, toMs: NOW_MS };
    const filters: readonly RequestFilter[] = [
      { span, model: SEEDED_MODELS.slice(-1) },
      { span, status: 'error', model: SEEDED_MODELS.slice(-4) },
      { span, errorCode: 'provider_timeout' },
      { span, provider: ['north'] },
    ];
    const rows = await database.kysely.selectFrom('usage').selectAll().orderBy('request_id', 'desc').execute();
    for (const filter of filters) {
      const wanted = rows.filter(
        (row) =>
          Number(row.created_at) >= span.fromMs &&
          (filter.model?.includes(row.model) ?? true) &&
          (filter.provider?.includes(row.provider) ?? true) &&
          (filter.status === undefined || row.outcome === 'failed') &&
          (filter.errorCode === undefined || row.error_code === filter.errorCode),
      );
      const found = await readRequests(database, { accountId: undefined, filter, rowsMax: 5000 });
      expect(found.rows.map((row) => row.request_id)).toEqual(wanted.map((row) => row.request_id));
      expect(wanted.length).toBeGreaterThan(0);
    }
  });

  test(
    'nothing is missing if usage rows were deleted before they were summed',
    async () => {
      const { kysely } = database;
      const before = await readAll(spansOf(ZONE));
      await kysely
        .deleteFrom('usage')
        .where('request_id', '<', idAt('req', NOW_MS - DAY_MS))
        .execute();
      await kysely.deleteFrom('usage_past_until').where('account_id', '=', WHOLE_SERVICE).execute();
      await kysely.deleteFrom('usage_past').where('account_id', '=', WHOLE_SERVICE).execute();
      await kysely.deleteFrom('account_past').execute();
      expect(await readAll(spansOf(ZONE))).toEqual(before);
      for (const grid of [HOURS, gridFrom('day', spansOf(ZONE)[1]?.fromMs ?? 0)]) await advanceAll(database, grid);
      expect(await readAll(spansOf(ZONE))).toEqual(before);
    },
    TEST_MS,
  );

  test(
    'the keeper sums the whole service if there is an operator',
    async () => {
      const { kysely } = database;
      const clear = () => kysely.deleteFrom('usage_past_until').where('account_id', '=', WHOLE_SERVICE).execute();
      const failures: unknown[] = [];
      const sweep = () => new HistoryKeeper(database, (_, error) => void failures.push(error)).sweep();
      const grids = () =>
        kysely.selectFrom('usage_past_until').select('grid').where('account_id', '=', WHOLE_SERVICE).orderBy('grid').execute();
      await clear();
      await kysely.deleteFrom('usage_past').where('account_id', '=', WHOLE_SERVICE).execute();
      await sweep();
      expect(await grids()).toEqual([]);
      await kysely.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', 'acct_one').execute();
      await sweep();
      expect(await grids()).toEqual([{ grid: 'day+0' }, { grid: 'hour+0' }]);
      expect(failures).toEqual([]);
    },
    TEST_MS,
  );
});

async function advanceAll(database: OpenDatabase, grid: ReturnType<typeof gridFrom>, nowMs = NOW_MS): Promise<void> {
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk += 1) if ((await advanceService(database, { grid, nowMs })) === 'done') return;
  throw new Error('the past has no end');
}

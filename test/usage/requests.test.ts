import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { exportRequests, readRequests, type RequestRow } from '../../src/usage/requests.ts';
import type { RequestFilter } from '../../src/usage/request-filter.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { SEEDED_KEYS, SEEDED_MODELS, SEEDED_PROVIDERS, seedUsage } from './seed-usage.ts';

const accountId = 'acct_seeded';
const FROM_MS = Date.UTC(2026, 9, 1);
const TO_MS = Date.UTC(2026, 9, 31);
const ROWS = 20_000;

const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined, freq: 1 });
const some = (values: readonly string[]) => optional(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }));
const filters = fc
  .record({
    model: some(SEEDED_MODELS),
    key: some(SEEDED_KEYS),
    provider: some([...SEEDED_PROVIDERS, '']),
    status: optional(fc.constantFrom('ok' as const, 'error' as const)),
    isStreaming: optional(fc.boolean()),
    servedModel: optional(fc.constantFrom('', 'model-0-2026', 'unheard_of')),
    finish: optional(fc.constantFrom('stop', 'length', 'unheard_of')),
    errorCode: optional(fc.constantFrom('provider_timeout', 'unheard_of')),
    costMin: optional(fc.integer({ min: 0, max: 2_000_000 }).map((cost) => asNanos(BigInt(cost)))),
    costMax: optional(fc.integer({ min: 0, max: 4_000_000 }).map((cost) => asNanos(BigInt(cost)))),
    tokensMin: optional(fc.integer({ min: 0, max: 6000 })),
    tokensMax: optional(fc.integer({ min: 0, max: 9000 })),
    firstTokenMsMin: optional(fc.integer({ min: 0, max: 1100 })),
    firstTokenMsMax: optional(fc.integer({ min: 0, max: 1500 })),
    durationMsMin: optional(fc.integer({ min: 0, max: 6500 })),
    durationMsMax: optional(fc.integer({ min: 0, max: 9000 })),
    day: fc.integer({ min: -1, max: 29 }),
    days: fc.integer({ min: 1, max: 31 }),
  })
  .map(({ day, days, ...rest }): RequestFilter => {
    const span = { fromMs: FROM_MS + day * 86_400_000, toMs: FROM_MS + (day + days) * 86_400_000 };
    return { span, ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) };
  });

/** The same filter, without a database. */
function isWanted(row: RequestRow, filter: RequestFilter): boolean {
  const tokens = row.input_tokens + row.cached_input_tokens + row.cache_write_tokens + row.output_tokens;
  return [
    Number(row.created_at) >= filter.span.fromMs && Number(row.created_at) < filter.span.toMs,
    filter.model?.includes(row.model) ?? true,
    filter.key?.includes(row.key_id) ?? true,
    filter.provider?.includes(row.provider) ?? true,
    filter.status === undefined || (filter.status === 'error') === (row.outcome === 'failed'),
    filter.isStreaming === undefined || filter.isStreaming === (row.is_streaming === 1n),
    filter.servedModel === undefined || filter.servedModel === row.served_model,
    filter.finish === undefined || filter.finish === row.finish_reason,
    filter.errorCode === undefined || filter.errorCode === row.error_code,
    filter.costMin === undefined || row.cost >= filter.costMin,
    filter.costMax === undefined || row.cost <= filter.costMax,
    filter.tokensMin === undefined || tokens >= filter.tokensMin,
    filter.tokensMax === undefined || tokens <= filter.tokensMax,
    filter.firstTokenMsMin === undefined || (row.first_token_ms !== null && row.first_token_ms >= filter.firstTokenMsMin),
    filter.firstTokenMsMax === undefined || (row.first_token_ms !== null && row.first_token_ms <= filter.firstTokenMsMax),
    filter.durationMsMin === undefined || row.duration_ms >= filter.durationMsMin,
    filter.durationMsMax === undefined || row.duration_ms <= filter.durationMsMax,
  ].every(Boolean);
}

describeStores((makeStore) => {
  let store: Store;
  let database: OpenDatabase;
  let newestFirst: readonly RequestRow[];

  beforeAll(async () => {
    store = await makeStore();
    database = await connect(store);
    await migrate(database.kysely, database.dialect);
    await seedUsage(database, { accountId, rows: ROWS, fromMs: FROM_MS, toMs: TO_MS });
    newestFirst = await database.kysely.selectFrom('usage').selectAll().orderBy('request_id', 'desc').execute();
  }, 120_000);
  afterAll(async () => {
    await database.kysely.destroy();
    await store.remove();
  });

  test('pages contain every request that matches a filter, once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 200 }), async (filter, rowsMax) => {
        const expected = newestFirst.filter((row) => isWanted(row, filter)).map(({ request_id: id }) => id);
        const found: string[] = [];
        let before: string | undefined;
        for (let pages = 0; pages < 5; pages += 1) {
          const page = await readRequests(database, { accountId, filter, before, rowsMax });
          found.push(...page.rows.map(({ request_id: id }) => id));
          expect(page.rows.length).toBeLessThanOrEqual(rowsMax);
          if (!page.isCutShort && page.next !== undefined) expect(page.rows).toHaveLength(rowsMax);
          before = page.next;
          if (before === undefined) break;
        }
        if (before === undefined) expect(found).toEqual(expected);
        else expect(found).toEqual(expected.slice(0, found.length));
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  test('an export contains exactly the requests that match the filter, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const found: string[] = [];
        for await (const rows of exportRequests(database, { accountId, filter })) found.push(...rows.map(({ request_id: id }) => id));
        expect(found).toEqual(newestFirst.filter((row) => isWanted(row, filter)).map(({ request_id: id }) => id));
      }),
      { numRuns: 15 },
    );
  }, 120_000);

  test('a search without matches stops after a limited number of rows, and says where to continue', async () => {
    const filter = { span: { fromMs: FROM_MS, toMs: TO_MS }, finish: 'unheard_of' };
    const page = await readRequests(database, { accountId, filter, rowsMax: 50 });
    expect(page).toMatchObject({ rows: [], isCutShort: true });
    const rest = await readRequests(database, { accountId, filter, before: page.next, rowsMax: 50 });
    expect(rest).toEqual({ rows: [], next: undefined, isCutShort: false });
  });

  test('a request is found by its id whatever the range, but only by its own account', async () => {
    const [first] = newestFirst;
    const filter = { span: { fromMs: 0, toMs: 1 }, requestId: first?.request_id ?? '' };
    const ids = async (account: string) => (await readRequests(database, { accountId: account, filter, rowsMax: 5 })).rows.length;
    expect([await ids(accountId), await ids('acct_other')]).toEqual([1, 0]);
  });

  test('requests of other accounts are not listed', async () => {
    const filter = { span: { fromMs: FROM_MS, toMs: TO_MS } };
    expect((await readRequests(database, { accountId: 'acct_other', filter, rowsMax: 5 })).rows).toEqual([]);
  });
});

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { verifyLedger } from '../../src/ledger/reconcile.ts';
import { advanceHours } from '../../src/usage/hours.ts';
import { METRICS, valueOf } from '../../src/usage/metrics.ts';
import { addAll, GROUPS, readReport, type Group } from '../../src/usage/report.ts';
import type { RequestRow } from '../../src/usage/requests.ts';
import { NO_SUMS, type Sums, type SumsFilter } from '../../src/usage/sums.ts';
import { BUCKETS, QUARTER_MS } from '../../src/usage/zone.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { SEEDED_KEYS, SEEDED_MODELS, SEEDED_PROVIDERS, seedUsage } from './seed-usage.ts';

const accountId = 'acct_seeded';
/** Clocks change in Berlin, New York and Lord Howe within these weeks. */
const FROM_MS = Date.UTC(2026, 8, 28);
const TO_MS = Date.UTC(2026, 10, 9);
const ROWS = 3000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham'];

/** The same numbers, added up row by row. */
function recount(rows: readonly RequestRow[]): Sums {
  return addAll(
    rows.map((row) => ({
      ...NO_SUMS,
      requests: 1,
      errors: row.outcome === 'failed' ? 1 : 0,
      inputTokens: Number(row.input_tokens),
      cachedInputTokens: Number(row.cached_input_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
      cost: row.cost as Sums['cost'],
      firstTokenMs: Number(row.first_token_ms ?? 0),
      firstTokenCount: row.first_token_ms === null ? 0 : 1,
      durationMs: Number(row.duration_ms),
    })),
  );
}

function valueFor(row: RequestRow, group: Group): string {
  const values = { model: row.model, key: row.key_id, provider: row.provider, status: row.outcome === 'failed' ? 'error' : 'ok' };
  return values[group];
}

function isWithin(row: RequestRow, filter: SumsFilter): boolean {
  return (
    (filter.model?.includes(row.model) ?? true) &&
    (filter.key?.includes(row.key_id) ?? true) &&
    (filter.provider?.includes(row.provider) ?? true)
  );
}

const some = (values: readonly string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 1 });
const filters = fc
  .record({ model: some(SEEDED_MODELS), key: some(SEEDED_KEYS), provider: some([...SEEDED_PROVIDERS, '']) })
  .map((filter): SumsFilter => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)));

const questions = fc.record({
  zone: fc.constantFrom(...ZONES),
  bucket: fc.constantFrom(...BUCKETS),
  group: fc.constantFrom(...GROUPS),
  metric: fc.constantFrom(...METRICS),
  filter: filters,
  seriesMax: fc.integer({ min: 1, max: 15 }),
  isCompared: fc.boolean(),
  start: fc.integer({ min: 0, max: (TO_MS - FROM_MS) / QUARTER_MS }),
  length: fc.integer({ min: 1, max: 900 }),
  reached: fc.integer({ min: 1, max: 1000 }),
});

describeStores((makeStore) => {
  let store: Store;
  let database: OpenDatabase;
  let rows: readonly RequestRow[];

  beforeAll(async () => {
    store = await makeStore();
    database = await connect(store);
    await migrate(database.kysely, database.dialect);
    await seedUsage(database, { accountId, rows: ROWS, fromMs: FROM_MS, toMs: TO_MS });
    rows = await database.kysely.selectFrom('usage').selectAll().execute();
  }, 30_000);
  afterAll(async () => {
    await database.kysely.destroy();
    await store.remove();
  });

  test('what the seeding makes up is what the ledger would have left', async () => {
    const checks = await verifyLedger(database.kysely, { dialect: database.dialect, accountIds: undefined, longestRequestMs: 1 });
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(rows).toHaveLength(ROWS);
  });

  const compareWithRecount = async (): Promise<void> => {
    await fc.assert(
      fc.asyncProperty(questions, async ({ start, length, reached, ...asked }) => {
        const span = { fromMs: FROM_MS + start * QUARTER_MS, toMs: FROM_MS + (start + length) * QUARTER_MS };
        const nowMs = span.fromMs + reached * QUARTER_MS - 1;
        const report = await readReport(database, { accountId, span, nowMs, ...asked });
        const matching = rows.filter((row) => isWithin(row, asked.filter));
        const between = (fromMs: number, toMs: number) => matching.filter(({ created_at: at }) => at >= fromMs && at < toMs);
        const named = new Set(report.series.map(({ name }) => name));
        const nameOf = (row: RequestRow) => (named.has(valueFor(row, asked.group)) ? valueFor(row, asked.group) : undefined);
        const own = Map.groupBy(between(span.fromMs, span.toMs), nameOf);
        const edges = report.buckets.map(({ toMs }) => toMs);
        for (const { name, total, values, count } of report.series) {
          const requests = own.get(name) ?? [];
          expect(total.requests).toBe(requests.length);
          // Roll-ups do not tell the times of what failed from those of what did not.
          if (asked.group !== 'status') expect(total).toEqual(recount(requests));
          if (name === undefined) expect(count).toBe(new Set(requests.map((row) => valueFor(row, asked.group))).size);
          const byBucket = Map.groupBy(requests, ({ created_at: at }) => edges.findIndex((toMs) => at < toMs));
          expect(values.map(({ cost, requests: found }) => [cost, found])).toEqual(
            edges.map((_, index) => [recount(byBucket.get(index) ?? []).cost, byBucket.get(index)?.length ?? 0]),
          );
        }
        expect([...own.keys()].every((name) => report.series.some((series) => series.name === name))).toBeTrue();
        expect(valueOf('spend', report.total)).toBe(valueOf('spend', recount(between(span.fromMs, span.toMs))));
        expect(report.series.length).toBeLessThanOrEqual(asked.seriesMax + 1);
        const lengthMs = span.toMs - span.fromMs;
        const formerToMs = Math.min(span.fromMs, nowMs + 1 - lengthMs);
        if (asked.isCompared) expect(report.former?.total).toEqual(recount(between(span.fromMs - lengthMs, formerToMs)));
      }),
      { numRuns: 40 },
    );
  };

  test('a report equals a recount of the requests, in any zone', compareWithRecount, 60_000);

  test('past hours are summed up, but none that an open hold may still add to', async () => {
    const openMs = Date.UTC(2026, 10, 5, 10, 20);
    const hold = { id: 'req_open', account_id: accountId, key_id: 'k', model: 'm', price_version: 1, amount: 0, node_id: '', progress: 0 };
    await database.kysely
      .insertInto('holds')
      .values({ ...hold, created_at: openMs })
      .execute();
    while ((await advanceHours(database.kysely, accountId, TO_MS)) === 'behind');
    const until = async () =>
      Number((await database.kysely.selectFrom('usage_hours_until').select('until').executeTakeFirstOrThrow()).until);
    expect(await until()).toBe(Date.UTC(2026, 10, 5, 10));
    await database.kysely.deleteFrom('holds').execute();
    expect(await advanceHours(database.kysely, accountId, TO_MS - 40 * 3_600_000)).toBe('behind');
    while ((await advanceHours(database.kysely, accountId, TO_MS - 40 * 3_600_000)) === 'behind');
    expect(await until()).toBe(TO_MS - 41 * 3_600_000);
    const summed = await database.kysely.selectFrom('usage_hours').selectAll().where('dimension', '=', 'key').execute();
    expect(summed.reduce((sum, row) => sum + row.requests, 0n)).toBe(
      BigInt(rows.filter(({ created_at: at }) => Number(at) < TO_MS - 41 * 3_600_000).length),
    );
  });

  test('a report over hours that are summed up and quarters that are not equals a recount', compareWithRecount, 60_000);

  test('an account without requests has an empty report, and nothing to sum up', async () => {
    expect(await advanceHours(database.kysely, 'acct_nobody', TO_MS)).toBe('done');
    const span = { fromMs: FROM_MS, toMs: TO_MS };
    const question = { accountId: 'acct_nobody', span, zone: 'UTC', bucket: 'week', group: 'model', metric: 'spend', filter: {} } as const;
    const report = await readReport(database, { ...question, seriesMax: 5, isCompared: false, nowMs: TO_MS });
    expect(report.series).toEqual([]);
    expect(report.total).toEqual(NO_SUMS);
  });
});

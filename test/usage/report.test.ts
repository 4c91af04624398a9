import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { removeEndUsers } from '../../src/usage/end-users.ts';
import { gridFrom, HOURS, UTC_DAYS, type Grid } from '../../src/usage/grid.ts';
import { valueOf } from '../../src/usage/metrics.ts';
import { advanceHistory } from '../../src/usage/history.ts';
import { isCounted, readReport } from '../../src/usage/report.ts';
import type { ReportFilter } from '../../src/usage/report-cells.ts';
import type { RequestRow } from '../../src/usage/requests.ts';
import { addAll, NO_SUMS, ofStatus, type Sums } from '../../src/usage/sums.ts';
import { BUCKETS, GROUPS, isMean, METRICS, type Group } from '../../src/usage/vocabulary.ts';
import { QUARTER_HOUR_MS } from '../../src/durations.ts';
import { startOf } from '../../src/usage/zone.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { SEEDED_KEYS, SEEDED_MODELS, SEEDED_PROVIDERS, SEEDED_USERS, seedUsage } from './seed-usage.ts';

const accountId = 'acct_seeded';
/** Clocks change in Berlin, New York and Lord Howe within these weeks. */
const FROM_MS = Date.UTC(2026, 8, 28);
const TO_MS = Date.UTC(2026, 10, 9);
const ROWS = 3000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham'];

/** The same sums, added up row by row. */
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
      durationCount: 1,
    })),
  );
}

/** Some keys have two tags, some one, some none. */
const TAGS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  SEEDED_KEYS.map((key, index) => [key, ['blue', 'red', 'green'].slice(index % 3, (index % 3) + (index % 4))]),
);

function valuesFor(row: RequestRow, group: Group): readonly string[] {
  if (group === 'tag') return (TAGS[row.key_id] ?? []).length === 0 ? [''] : (TAGS[row.key_id] ?? []);
  const status = row.outcome === 'failed' ? 'error' : 'ok';
  return [{ model: row.model, key: row.key_id, provider: row.provider, status, end_user: row.end_user ?? '' }[group]];
}

/** Every series that a request belongs to. */
function namesFor(row: RequestRow, [group, second]: readonly Group[]): string[] {
  const first = group === undefined ? [] : valuesFor(row, group);
  return second === undefined ? [...first] : first.flatMap((one) => valuesFor(row, second).map((other) => `${one} ${other}`));
}

function isWithin(row: RequestRow, filter: ReportFilter): boolean {
  return (
    (filter.model?.includes(row.model) ?? true) &&
    (filter.key?.includes(row.key_id) ?? true) &&
    (filter.provider?.includes(row.provider) ?? true) &&
    (filter.tag?.some((tag) => TAGS[row.key_id]?.includes(tag)) ?? true) &&
    (filter.endUser === undefined || filter.endUser === row.end_user) &&
    (filter.status === undefined || filter.status === (row.outcome === 'failed' ? 'error' : 'ok'))
  );
}

const some = (values: readonly string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 1 });
const filters = fc
  .record({
    model: some(SEEDED_MODELS),
    key: some(SEEDED_KEYS),
    provider: some([...SEEDED_PROVIDERS, '']),
    tag: some(['blue', 'red', 'unused']),
    status: fc.option(fc.constantFrom('ok', 'error'), { nil: undefined, freq: 1 }),
    endUser: fc.option(fc.constantFrom(...SEEDED_USERS, 'nobody'), { nil: undefined, freq: 1 }),
  })
  .map((filter): ReportFilter => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)));

const questions = fc.record({
  zone: fc.constantFrom(...ZONES),
  bucket: fc.constantFrom(...BUCKETS),
  groups: fc.uniqueArray(fc.constantFrom(...GROUPS), { minLength: 1, maxLength: 2 }),
  metric: fc.constantFrom(...METRICS),
  filter: filters,
  seriesMax: fc.integer({ min: 1, max: 15 }),
  isCompared: fc.boolean(),
  start: fc.integer({ min: 0, max: (TO_MS - FROM_MS) / QUARTER_HOUR_MS }),
  length: fc.integer({ min: 1, max: 900 }),
  reached: fc.integer({ min: 1, max: 1000 }),
});

/** In this span a key without tags has only failures, while others without tags have answers. */
const ONLY_FAILED = {
  zone: 'UTC',
  bucket: 'hour' as const,
  groups: ['status', 'tag'] as Group[],
  metric: 'spend' as const,
  filter: {},
  seriesMax: 3,
  isCompared: false,
  start: 499,
  length: 80,
  reached: 1,
};

describeStores((makeStore) => {
  let store: Store;
  let database: OpenDatabase;
  let rows: readonly RequestRow[];

  beforeAll(async () => {
    store = await makeStore();
    database = await connect(store);
    await migrate(database.kysely, database.dialect);
    await seedUsage(database, { accountId, rows: ROWS, fromMs: FROM_MS, toMs: TO_MS });
    for (const [id, tags] of Object.entries(TAGS))
      await database.kysely
        .updateTable('api_keys')
        .set({ tags: JSON.stringify(tags) })
        .where('id', '=', id)
        .execute();
    rows = await database.kysely.selectFrom('usage').selectAll().orderBy('request_id').execute();
  }, 120_000);
  afterAll(async () => {
    await database.kysely.destroy();
    await store.remove();
  });

  test('the seeded data is what the ledger would have left', async () => {
    const checks = await verifyLedger(database.kysely, { accountIds: undefined, longestRequestMs: 1 });
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(rows).toHaveLength(ROWS);
  });

  const compareWithRecount = async (): Promise<void> => {
    await fc.assert(
      fc.asyncProperty(questions, async ({ start, length, reached, ...asked }) => {
        const quarters = asked.bucket === 'minute' ? Math.min(length, 24) : length;
        const span = { fromMs: FROM_MS + start * QUARTER_HOUR_MS, toMs: FROM_MS + (start + quarters) * QUARTER_HOUR_MS };
        const nowMs = span.fromMs + reached * QUARTER_HOUR_MS - 1;
        const report = await readReport(database, { accountId, span, nowMs, ...asked });
        const matching = rows.filter((row) => isWithin(row, asked.filter));
        const between = (fromMs: number, toMs: number) => matching.filter(({ created_at: at }) => at >= fromMs && at < toMs);
        const own = between(span.fromMs, span.toMs);
        const shown = new Set(report.series.flatMap(({ names }) => (names === undefined ? [] : [names.join(' ')])));
        const namesOf = (row: RequestRow) => namesFor(row, asked.groups);
        // Roll-ups do not separate the times of failed requests from those of others.
        const { status } = asked.filter;
        const isExact = isCounted(asked);
        const known = (sums: Sums): Sums => (status === undefined || isExact ? sums : ofStatus(sums, status));
        const edges = report.buckets.map(({ toMs }) => toMs);
        for (const { names, total, values, count } of report.series) {
          const isIn = (name: string) => (names === undefined ? !shown.has(name) : names.join(' ') === name);
          const requests = own.filter((row) => namesOf(row).some(isIn));
          expect(total.requests).toBe(requests.length);
          if (isExact || !asked.groups.includes('status')) expect(total).toEqual(known(recount(requests)));
          expect(count).toBe(new Set(requests.flatMap(namesOf).filter(isIn)).size);
          const byBucket = Map.groupBy(requests, ({ created_at: at }) => edges.findIndex((toMs) => at < toMs));
          const isTimed = isExact || !(isMean(asked.metric) && (status !== undefined || asked.groups.includes('status')));
          if (isTimed)
            expect(values.map((sums) => valueOf(asked.metric, sums))).toEqual(
              edges.map((_, index) => valueOf(asked.metric, recount(byBucket.get(index) ?? []))),
            );
        }
        expect(own.flatMap(namesOf).every((name) => shown.has(name) || report.series.at(-1)?.names === undefined)).toBeTrue();
        if (own.some((row) => namesOf(row).length > 1)) expect(report.isOverlapping).toBeTrue();
        expect(report.total).toEqual(known(recount(own)));
        expect(valueOf(asked.metric, addAll(report.values))).toBe(valueOf(asked.metric, report.total));
        expect(report.series.length).toBeLessThanOrEqual(asked.seriesMax + 1);
        const lengthMs = span.toMs - span.fromMs;
        const formerToMs = Math.min(span.fromMs, nowMs + 1 - lengthMs);
        if (asked.isCompared) expect(report.former?.total).toEqual(known(recount(between(span.fromMs - lengthMs, formerToMs))));
      }),
      { numRuns: 50, examples: [[ONLY_FAILED]] },
    );
  };

  test('a report equals a recount of the requests, in any zone', compareWithRecount, 60_000);

  const advance = async (grid: Grid, nowMs: number): Promise<void> => {
    while ((await advanceHistory(database, { accountId, grid, nowMs })) === 'behind');
  };

  test('past hours are summed, except those that an open hold may still add to', async () => {
    const openMs = Date.UTC(2026, 10, 5, 10, 20);
    const hold = { id: 'req_open', account_id: accountId, key_id: 'k', model: 'm', price_version: 1, amount: 0, node_id: '', progress: 0 };
    await database.kysely
      .insertInto('holds')
      .values({ ...hold, created_at: openMs })
      .execute();
    await advance(HOURS, TO_MS);
    const until = async () =>
      Number((await database.kysely.selectFrom('usage_past_until').select('until').executeTakeFirstOrThrow()).until);
    expect(await until()).toBe(Date.UTC(2026, 10, 5, 10));
    await database.kysely.deleteFrom('holds').execute();
    const nowMs = TO_MS - 40 * 3_600_000;
    await advance(HOURS, nowMs);
    expect(await until()).toBe(TO_MS - 41 * 3_600_000);
    const summed = await database.kysely.selectFrom('usage_past').selectAll().where('dimension', '=', 'key').execute();
    expect(summed.reduce((sum, row) => sum + row.requests, 0n)).toBe(
      BigInt(rows.filter(({ created_at: at }) => Number(at) < TO_MS - 41 * 3_600_000).length),
    );
  });

  test('a report over summed hours and other quarter hours equals a recount', compareWithRecount, 60_000);

  test('two nodes that sum the same days at the same time do so once', async () => {
    const days = { accountId, grid: UTC_DAYS, nowMs: TO_MS - 3 * 86_400_000 };
    const both = async (): Promise<string[]> => Promise.all([advanceHistory(database, days), advanceHistory(database, days)]);
    while ((await both()).includes('behind'));
    const summed = await database.kysely.selectFrom('usage_past').selectAll().where('dimension', '=', 'every').execute();
    const untilMs = Date.UTC(2026, 10, 5);
    expect(summed.reduce((sum, row) => sum + row.requests, 0n)).toBe(
      BigInt(rows.filter(({ created_at: at }) => Number(at) < untilMs).length),
    );
  });

  test('a report over days of several zones, hours and quarter hours equals a recount', async () => {
    for (const zone of ['Asia/Kathmandu', 'Europe/Berlin', 'America/New_York'])
      for (const atMs of [FROM_MS, TO_MS]) {
        await advance(gridFrom('day', startOf('day', atMs, zone)), TO_MS - 86_400_000);
        await advance(gridFrom('hour', startOf('day', atMs, zone)), TO_MS - 86_400_000);
      }
    await compareWithRecount();
  }, 120_000);

  test('closing an account removes the end users from all its requests, and nothing else', async () => {
    await removeEndUsers(database.kysely, accountId);
    const left = await database.kysely.selectFrom('usage').selectAll().orderBy('request_id').execute();
    expect(left).toEqual(rows.map((row) => ({ ...row, end_user: null })));
  });

  test('an account without requests has an empty report, and nothing to sum', async () => {
    expect(await advanceHistory(database, { accountId: 'acct_nobody', grid: HOURS, nowMs: TO_MS })).toBe('done');
    const span = { fromMs: FROM_MS, toMs: TO_MS };
    const question = {
      accountId: 'acct_nobody',
      span,
      zone: 'UTC',
      bucket: 'week',
      groups: ['model'],
      metric: 'spend',
      filter: {},
    } as const;
    const report = await readReport(database, { ...question, seriesMax: 5, isCompared: false, nowMs: TO_MS });
    expect(report.series).toEqual([]);
    expect(report.total).toEqual(NO_SUMS);
  });
});

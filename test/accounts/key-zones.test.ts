import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { settingsShape } from '../../src/accounts/key-settings.ts';
import { windowOf } from '../../src/ledger/budget.ts';
import { eachStore } from '../database/each-store.ts';

const ZONES = [
  'CET',
  'MET',
  'EET',
  'wet',
  'EST5EDT',
  'US/Pacific',
  'Asia/Calcutta',
  'Etc/GMT+5',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
];
const MOMENTS = [Date.UTC(2026, 0, 14, 12), Date.UTC(2026, 6, 15, 12)];
/** Zones whose clocks show midnight twice in autumn or skip it in spring, with those days in 2026 and 2027. */
const CHANGES: readonly (readonly [zone: string, day: number])[] = [
  ['Atlantic/Azores', Date.UTC(2026, 9, 25)],
  ['Atlantic/Azores', Date.UTC(2027, 9, 31)],
  ['America/Havana', Date.UTC(2026, 10, 1)],
  ['America/Havana', Date.UTC(2027, 2, 14)],
  ['Africa/Cairo', Date.UTC(2026, 3, 24)],
  ['Asia/Beirut', Date.UTC(2026, 2, 29)],
  ['Europe/Berlin', Date.UTC(2026, 9, 25)],
];

eachStore((database) => {
  test.each(ZONES)('a budget day in %s starts at local midnight in summer and winter, on every database', async (name) => {
    const { kysely, dialect } = database();
    const zone = settingsShape.limitZone.parse(name) ?? '';
    for (const atMs of MOMENTS) {
      const { startMs, endMs } = windowOf('day', atMs, name);
      expect(windowOf('day', atMs, zone)).toEqual({ startMs, endMs });
      if (dialect !== 'postgres') continue;
      const { rows } = await sql`SELECT start_ms, end_ms FROM budget_span('day', CAST(${atMs} AS BIGINT), ${zone})`.execute(kysely);
      expect(rows).toEqual([{ start_ms: BigInt(startMs), end_ms: BigInt(endMs ?? 0) }]);
    }
  });

  test.each(CHANGES)('days, weeks and months in %s around a clock change are the same on every database', async (zone, day) => {
    const { kysely, dialect } = database();
    const hours = Array.from({ length: 4 * 48 }, (_, index) => day - 24 * 3_600_000 + index * 900_000);
    for (const period of ['day', 'week', 'month'] as const) {
      const spans = hours.map((atMs) => ({ atMs, ...windowOf(period, atMs, zone) }));
      for (const { atMs, startMs, endMs = 0 } of spans) expect(startMs <= atMs && atMs < endMs).toBe(true);
      if (dialect !== 'postgres') continue;
      const { rows } = await sql<{ start_ms: bigint; end_ms: bigint }>`SELECT span.start_ms, span.end_ms
        FROM unnest(CAST(${hours} AS BIGINT[])) WITH ORDINALITY AS moments (at_ms, number), budget_span(${period}, at_ms, ${zone}) AS span
        ORDER BY number`.execute(kysely);
      expect(rows).toEqual(spans.map(({ startMs, endMs = 0 }) => ({ start_ms: BigInt(startMs), end_ms: BigInt(endMs) })));
    }
  });
});

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
  'Etc/GMT+5',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
];
const MOMENTS = [Date.UTC(2026, 0, 14, 12), Date.UTC(2026, 6, 15, 12)];

eachStore((database) => {
  test.each(ZONES)('a day of a key in %s begins in summer and in winter when its clocks say so, on every database', async (name) => {
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
});

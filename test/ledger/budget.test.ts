import { describe, expect, test } from 'bun:test';
import { allowedAt, allowedFromMs, Budget, longestRefusal, pacedPerHour, windowOf, type BudgetRow } from '../../src/ledger/budget.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 16);
const DAY = { amount: 1000n, startMs: START_MS, endMs: START_MS + DAY_MS, isPaced: true };

function rowOf(changes: Partial<BudgetRow> = {}): BudgetRow {
  return {
    period: 'day',
    amount: 1000n,
    spent: 0n,
    held: 0n,
    window_start: BigInt(START_MS),
    window_end: BigInt(START_MS + DAY_MS),
    zone: 'UTC',
    is_paced: 1n,
    ...changes,
  };
}

function span(period: 'day' | 'week' | 'month', moment: string, zone: string): string {
  const { startMs, endMs } = windowOf(period, Date.parse(moment), zone);
  return [startMs, endMs ?? 0].map((ms) => new Date(ms).toISOString().slice(0, 16)).join(' ');
}

describe('a paced budget', () => {
  test.each([
    ['at the start', 0, 800n],
    ['after a quarter of its window', DAY_MS / 4, 850n],
    ['halfway through', DAY_MS / 2, 900n],
    ['a moment before the end', DAY_MS - 1, 999n],
    ['at the end', DAY_MS, 1000n],
    ["before its window, by another node's clock", -5000, 800n],
    ['after its window, until the next one starts', DAY_MS + 5000, 1000n],
  ])('%s: allows four fifths plus its share of the last fifth', (_, elapsedMs, allowed) => {
    expect(allowedAt(DAY, START_MS + elapsedMs)).toBe(allowed);
  });

  test('allows everything at once if it is not paced or has no end', () => {
    expect(allowedAt({ ...DAY, isPaced: false }, START_MS)).toBe(1000n);
    expect(allowedAt({ ...DAY, endMs: undefined }, START_MS)).toBe(1000n);
  });

  test('finds the first moment at which an amount is allowed', () => {
    for (const wanted of [1n, 800n, 801n, 850n, 999n, 1000n]) {
      const fromMs = allowedFromMs(DAY, wanted) ?? 0;
      expect(allowedAt(DAY, fromMs)).toBeGreaterThanOrEqual(wanted);
      if (fromMs > START_MS) expect(allowedAt(DAY, fromMs - 1)).toBeLessThan(wanted);
    }
  });

  test('names the end of the window for amounts above the budget, and no time if it is not paced', () => {
    expect(allowedFromMs(DAY, 1001n)).toBe(DAY.endMs);
    expect(allowedFromMs({ ...DAY, amount: 4n }, 4n)).toBe(DAY.endMs);
    expect(allowedFromMs({ ...DAY, isPaced: false }, 1n)).toBeUndefined();
    expect(allowedFromMs({ ...DAY, endMs: undefined }, 1n)).toBeUndefined();
  });

  test('releases one fifth in total, hour by hour', () => {
    expect(pacedPerHour({ ...DAY, amount: 120_000n })).toBe(1000n);
    expect(pacedPerHour({ ...DAY, isPaced: false })).toBe(0n);
  });

  test('refuses an amount that does not fit yet, with the time when it will', () => {
    const budget = new Budget(rowOf({ spent: 700n, held: 100n }));
    expect(budget.refuse(50n, START_MS)).toEqual({ period: 'day', available: 0n, freeAtMs: START_MS + DAY_MS / 4 });
    expect(budget.refuse(50n, START_MS + DAY_MS / 4)).toBeUndefined();
  });

  test('names the end of the window at the latest when only held money is in the way', () => {
    const budget = new Budget(rowOf({ spent: 700n, held: 300n }));
    expect(budget.refuse(50n, START_MS)?.freeAtMs).toBe(DAY.endMs);
  });

  test('names no time when the amount cannot fit in this window', () => {
    expect(new Budget(rowOf({ spent: 700n })).refuse(301n, START_MS)?.freeAtMs).toBeUndefined();
    expect(new Budget(rowOf({ is_paced: 0n, held: 900n })).refuse(101n, START_MS)?.freeAtMs).toBeUndefined();
  });

  test('starts the next window with four fifths again', () => {
    const budget = new Budget(rowOf({ spent: 1000n }));
    budget.turn(START_MS + DAY_MS);
    expect(budget.leftAt(START_MS + DAY_MS)).toBe(800n);
    expect(budget.leftAt(START_MS + DAY_MS + 12 * HOUR_MS)).toBe(900n);
  });

  test('reports the refusal that lasts longest', () => {
    const [soon, late, never] = [10, 20, undefined].map((freeAtMs) => ({ period: 'day' as const, available: 0n, freeAtMs }));
    if (soon === undefined || late === undefined || never === undefined) throw new Error('expected three refusals');
    expect(longestRefusal([soon, late])).toBe(late);
    expect(longestRefusal([late, never, soon])).toBe(never);
    expect(longestRefusal([])).toBeUndefined();
  });
});

describe('a budget window', () => {
  test.each([
    ['day', '2026-11-15T23:30:00Z', 'UTC', '2026-11-15T00:00 2026-11-16T00:00'],
    ['day', '2026-11-15T23:30:00Z', 'Europe/Berlin', '2026-11-15T23:00 2026-11-16T23:00'],
    ['day', '2026-03-29T12:00:00Z', 'Europe/Berlin', '2026-03-28T23:00 2026-03-29T22:00'],
    ['day', '2026-10-25T12:00:00Z', 'Europe/Berlin', '2026-10-24T22:00 2026-10-25T23:00'],
    ['week', '2026-11-15T23:30:00Z', 'Europe/Berlin', '2026-11-15T23:00 2026-11-22T23:00'],
    ['week', '2026-11-15T23:30:00Z', 'America/New_York', '2026-11-09T05:00 2026-11-16T05:00'],
    ['month', '2026-10-31T18:20:00Z', 'Asia/Kathmandu', '2026-10-31T18:15 2026-11-30T18:15'],
    ['month', '2026-10-31T18:10:00Z', 'Asia/Kathmandu', '2026-09-30T18:15 2026-10-31T18:15'],
    ['day', '2026-04-24T12:00:00Z', 'Africa/Cairo', '2026-04-23T22:00 2026-04-24T21:00'],
    ['day', '2026-11-15T12:00:00Z', 'Moon/Crater', '2026-11-15T00:00 2026-11-16T00:00'],
  ] as const)('of a %s at %s in %s', (period, moment, zone, expected) => {
    expect(span(period, moment, zone)).toBe(expected);
  });

  test('of the total has neither start nor end', () => {
    expect(windowOf('total', START_MS, 'Europe/Berlin')).toEqual({ startMs: 0, endMs: undefined });
  });
});

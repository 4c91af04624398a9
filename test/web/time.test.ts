import { describe, expect, test } from 'bun:test';
import { addDays, dayOf, dayStartMs, formatRelative, formatSpan, previousSpan, spanOf } from '../../web/time.ts';

const at = (text: string): number => Date.parse(text);

describe('a date range', () => {
  const nowMs = at('2026-11-15T23:30:00Z');

  test('starts at midnight in its time zone', () => {
    expect(spanOf({ range: 'today' }, 'UTC', nowMs)).toEqual({ fromMs: at('2026-11-15T00:00:00Z'), toMs: at('2026-11-16T00:00:00Z') });
    expect(spanOf({ range: 'today' }, 'Asia/Tokyo', nowMs)).toEqual({
      fromMs: at('2026-11-15T15:00:00Z'),
      toMs: at('2026-11-16T15:00:00Z'),
    });
    expect(spanOf({ range: 'today' }, 'Asia/Kolkata', nowMs)).toEqual({
      fromMs: at('2026-11-15T18:30:00Z'),
      toMs: at('2026-11-16T18:30:00Z'),
    });
  });

  test('of seven days includes today', () => {
    expect(formatSpan(spanOf({ range: '7d' }, 'UTC', nowMs), 'UTC')).toBe('9 Nov 2026 – 15 Nov 2026, UTC');
  });

  test('of hours is aligned to quarter-hours and prints its times', () => {
    const span = spanOf({ range: '1h' }, 'UTC', at('2026-11-15T13:57:12Z'));
    expect(span).toEqual({ fromMs: at('2026-11-15T12:45:00Z'), toMs: at('2026-11-15T14:00:00Z') });
    expect(formatSpan(span, 'Asia/Kathmandu')).toBe('15 Nov 2026, 18:30 – 19:45, Asia/Kathmandu');
  });

  test('of the month starts on its first day', () => {
    expect(spanOf({ range: 'month' }, 'UTC', nowMs).fromMs).toBe(at('2026-11-01T00:00:00Z'));
  });

  test('chosen by the user includes both days, in either order', () => {
    const span = { fromMs: at('2026-10-01T00:00:00Z'), toMs: at('2026-10-04T00:00:00Z') };
    expect(spanOf({ range: 'custom', from: '2026-10-01', to: '2026-10-03' }, 'UTC', nowMs)).toEqual(span);
    expect(spanOf({ range: 'custom', from: '2026-10-03', to: '2026-10-01' }, 'UTC', nowMs)).toEqual(span);
  });

  test('has a previous range of the same length', () => {
    expect(previousSpan({ fromMs: 100, toMs: 130 })).toEqual({ fromMs: 70, toMs: 100 });
  });
});

describe('a day', () => {
  test('has 23 or 25 hours when the clocks change', () => {
    expect(['2026-03-29', '2026-10-25', '2026-11-15'].map(hoursInBerlin)).toEqual([23, 25, 24]);
  });

  test('without a midnight starts at its first instant', () => {
    const startMs = dayStartMs('2026-09-06', 'America/Santiago');
    expect(dayOf(startMs, 'America/Santiago')).toBe('2026-09-06');
    expect(dayOf(startMs - 1, 'America/Santiago')).toBe('2026-09-05');
  });
});

test.each([
  [-90_000, '1 minute ago'],
  [-7_200_000, '2 hours ago'],
  [86_400_000, 'tomorrow'],
  [3 * 86_400_000, 'in 3 days'],
])('shows %d ms from now as %s', (offsetMs, shown) => {
  expect(formatRelative(offsetMs, 0)).toBe(shown);
});

function hoursInBerlin(day: string): number {
  return (dayStartMs(addDays(day, 1), 'Europe/Berlin') - dayStartMs(day, 'Europe/Berlin')) / 3_600_000;
}

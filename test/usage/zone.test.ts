import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BUCKETS, type Bucket } from '../../src/usage/vocabulary.ts';
import { QUARTER_HOUR_MS } from '../../src/durations.ts';
import { cutIntoBuckets, startOf, startOfDayBefore, zoneWriter } from '../../src/usage/zone.ts';
import { canonicalZone, isZone, ZoneClock } from '../../src/zone-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function hoursOf(zone: string, day: string, bucket: Bucket = 'day'): number[] {
  const middleMs = Date.parse(`${day}T12:00:00Z`);
  const span = { fromMs: middleMs - 3 * DAY_MS, toMs: middleMs + 3 * DAY_MS };
  // The first and last bucket are cut off.
  return cutIntoBuckets(span, bucket, zone)
    .slice(1, -1)
    .map(({ fromMs, toMs }) => (toMs - fromMs) / HOUR_MS);
}

/** The wall-clock time in a zone, computed without our own code. */
function wallOf(atMs: number, zone: string): Record<string, string> {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  return Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
}

describe('days in a time zone', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    // Midnight itself is skipped here: the day begins at one o'clock.
    ['America/Santiago', '2026-09-06', 23],
    ['Africa/Cairo', '2026-04-24', 23],
    ['UTC', '2026-10-25', 24],
    ['Asia/Kolkata', '2026-10-25', 24],
    ['Asia/Kathmandu', '2026-10-25', 24],
  ])('in %s, %s has %d hours', (zone, day, hours) => {
    expect(hoursOf(zone, day)).toContain(hours);
    expect(hoursOf(zone, day).filter((length) => length !== 24)).toEqual(hours === 24 ? [] : [hours]);
  });

  test('an hour that occurs twice is two buckets', () => {
    const span = { fromMs: Date.parse('2026-10-24T22:00:00Z'), toMs: Date.parse('2026-10-25T23:00:00Z') };
    const hours = cutIntoBuckets(span, 'hour', 'Europe/Berlin');
    expect(hours).toHaveLength(25);
    const write = zoneWriter('Europe/Berlin');
    expect(hours.map(({ fromMs }) => write(fromMs)).slice(1, 5)).toEqual([
      '2026-10-25T01:00:00+02:00',
      '2026-10-25T02:00:00+02:00',
      '2026-10-25T02:00:00+01:00',
      '2026-10-25T03:00:00+01:00',
    ]);
  });

  test('days and hours begin at the right time in zones 45 minutes off', () => {
    const span = { fromMs: Date.parse('2026-11-14T18:15:00Z'), toMs: Date.parse('2026-11-15T18:15:00Z') };
    expect(cutIntoBuckets(span, 'day', 'Asia/Kathmandu')).toEqual([span]);
    expect(cutIntoBuckets(span, 'hour', 'Asia/Kathmandu')).toHaveLength(24);
    expect(zoneWriter('Asia/Kathmandu')(span.fromMs)).toBe('2026-11-15T00:00:00+05:45');
    expect(zoneWriter('America/St_Johns')(span.fromMs)).toBe('2026-11-14T14:45:00-03:30');
  });

  test('weeks begin on Mondays, months on their first day', () => {
    const span = { fromMs: Date.parse('2026-10-01T00:00:00Z'), toMs: Date.parse('2026-12-01T00:00:00Z') };
    expect(cutIntoBuckets(span, 'month', 'UTC').map(({ fromMs }) => new Date(fromMs).toISOString().slice(0, 10))).toEqual([
      '2026-10-01',
      '2026-11-01',
    ]);
    const weeks = cutIntoBuckets(span, 'week', 'UTC').slice(1);
    expect(new Set(weeks.map(({ fromMs }) => new Date(fromMs).getUTCDay()))).toEqual(new Set([1]));
  });

  test('the start of a day is found even if midnight is skipped', () => {
    expect(zoneWriter('America/Santiago')(startOf('day', Date.parse('2026-09-06T15:00:00Z'), 'America/Santiago'))).toBe(
      '2026-09-06T01:00:00-03:00',
    );
    expect(zoneWriter('Europe/Berlin')(startOf('month', Date.parse('2026-03-31T21:59:00Z'), 'Europe/Berlin'))).toBe(
      '2026-03-01T00:00:00+01:00',
    );
  });
});

test.each([
  ['Europe/Berlin', '2026-10-27T23:30:00+01:00', 6, '2026-10-21T00:00:00+02:00'],
  ['Europe/Berlin', '2026-03-31T00:30:00+02:00', 6, '2026-03-25T00:00:00+01:00'],
  ['America/Santiago', '2026-09-08T12:00:00-03:00', 2, '2026-09-06T01:00:00-03:00'],
  ['UTC', '2026-11-15T00:00:00+00:00', 0, '2026-11-15T00:00:00+00:00'],
])('in %s, the day of %s and %d days before it begin at %s', (zone, at, days, start) => {
  expect(zoneWriter(zone)(startOfDayBefore(days, Date.parse(at), zone))).toBe(start);
});

test('a zone is valid if the runtime knows it', () => {
  expect(['UTC', 'Europe/Berlin', 'Asia/Kathmandu'].map(isZone)).toEqual([true, true, true]);
  expect(['', 'Mars/Olympus', 'Europe/Berlin; DROP TABLE usage'].map(isZone)).toEqual([false, false, false]);
});

test.each([
  ['US/Pacific', 'America/Los_Angeles'],
  ['GB', 'Europe/London'],
  ['Asia/Calcutta', 'Asia/Kolkata'],
  ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['EST5EDT', 'America/New_York'],
  ['Etc/UTC', 'UTC'],
  ['zulu', 'UTC'],
  ['europe/berlin', 'Europe/Berlin'],
  ['Etc/GMT+5', 'Etc/GMT+5'],
  ['Factory', undefined],
  ['+05:30', undefined],
  ['Mars/Olympus', undefined],
])('the zone %s is stored as %p', (name, stored) => {
  expect(canonicalZone(name)).toBe(stored);
});

test('every zone that can be chosen is stored by its own name', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const chosen = zones.filter((_, index) => index % 20 === 0);
  expect(chosen.map(canonicalZone)).toEqual(chosen);
});

test('minutes are the same in every zone', () => {
  const span = { fromMs: 90_000_000_060_000, toMs: 90_000_000_240_000 };
  expect(cutIntoBuckets(span, 'minute', 'Asia/Kathmandu').map(({ fromMs, toMs }) => [fromMs - span.fromMs, toMs - fromMs])).toEqual([
    [0, 60_000],
    [60_000, 60_000],
    [120_000, 60_000],
  ]);
});

test('buckets of any zone follow each other without gaps, and each stays within one hour, day or month', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const quarter = fc.integer({ min: Date.UTC(2024, 0, 1) / QUARTER_HOUR_MS, max: Date.UTC(2028, 0, 1) / QUARTER_HOUR_MS });
  const input = fc.record({
    zone: fc.constantFrom(...zones),
    start: quarter,
    length: fc.integer({ min: 1, max: 800 }),
    bucket: fc.constantFrom(...BUCKETS.filter((bucket) => bucket !== 'minute')),
  });
  const parts: Record<Bucket, readonly string[]> = {
    minute: [],
    quarter: [],
    hour: ['year', 'month', 'day', 'hour'],
    day: ['year', 'month', 'day'],
    week: [],
    month: ['year', 'month'],
  };
  fc.assert(
    fc.property(input, ({ zone, start, length, bucket }) => {
      const span = { fromMs: start * QUARTER_HOUR_MS, toMs: (start + length) * QUARTER_HOUR_MS };
      const buckets = cutIntoBuckets(span, bucket, zone);
      expect(buckets.at(0)?.fromMs).toBe(span.fromMs);
      expect(buckets.at(-1)?.toMs).toBe(span.toMs);
      for (const [index, one] of buckets.entries()) {
        const next = buckets[index + 1];
        if (next !== undefined) expect(next.fromMs).toBe(one.toMs);
        const [first, last] = [wallOf(one.fromMs, zone), wallOf(one.toMs - 60_000, zone)];
        for (const part of parts[bucket]) expect(last[part]).toBe(first[part] ?? '');
        const after = next === undefined ? undefined : wallOf(next.fromMs, zone);
        if (after !== undefined && bucket === 'day') expect(after['day']).not.toBe(first['day'] ?? '');
      }
    }),
    { numRuns: 150 },
  );
});

test('offsets that no place has are not valid zones, because sums are kept by quarter hour', () => {
  expect(['+05:37', '-00:10', '+0501'].map(isZone)).toEqual([false, false, false]);
  expect(['+05:45', '-0930', '+02', 'Etc/GMT+5', 'asia/kathmandu'].map(isZone)).toEqual([true, true, true, true, true]);
});

/** One of many spellings of the same name. */
function spell(number: number): string {
  const letters = 'europe/amsterdam'.split('');
  return letters.map((letter, bit) => ((number >> bit) & 1 ? letter.toUpperCase() : letter)).join('');
}

test('only a few of many zone spellings are remembered', () => {
  const real = Intl.DateTimeFormat;
  let made = 0;
  Intl.DateTimeFormat = new Proxy(real, {
    construct: (target, parameters) => {
      made += 1;
      return new target(...(parameters as []));
    },
  });
  const madeFor = (zone: string): number => {
    const before = made;
    expect(new ZoneClock(zone).offsetMs(0)).toBe(HOUR_MS);
    return made - before;
  };
  try {
    for (let number = 0; number < 1500; number += 1) madeFor(spell(number));
    expect(madeFor(spell(0))).toBe(1);
    expect(madeFor(spell(0))).toBe(0);
  } finally {
    Intl.DateTimeFormat = real;
  }
});

import { DAY_MS, HOUR_MS, MINUTE_MS, QUARTER_HOUR_MS } from '../durations.ts';
import { ZoneClock } from '../zone-clock.ts';
import type { Bucket } from './vocabulary.ts';

/** A time span, from `fromMs` inclusive to `toMs` exclusive. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const DAYS_A_WEEK = 7;
/** 1 January 1970 was a Thursday, and weeks begin on Mondays. */
const MONDAY_DAYS = 3;

/**
 * Cuts a span into buckets by the clock of a zone. A day has 23 or 25 hours when clocks change, and an hour that occurs twice
 * becomes two buckets. The first and last bucket are cut off where the span begins and ends. Every zone differs from UTC by a
 * number of quarter hours, so every bucket except the minute consists of whole ones.
 */
export function cutIntoBuckets({ fromMs, toMs }: Span, bucket: Bucket, zone: string): Span[] {
  const clock = new ZoneClock(zone);
  const stepMs = stepOf(bucket);
  const spans: { fromMs: number; toMs: number }[] = [];
  let current: number | undefined;
  for (let atMs = floorTo(fromMs, stepMs); atMs < toMs; atMs += stepMs) {
    const number = bucketNumber(clock, bucket, atMs);
    const last = spans.at(-1);
    if (last !== undefined && number === current) last.toMs = atMs + stepMs;
    else spans.push({ fromMs: atMs, toMs: atMs + stepMs });
    current = number;
  }
  return spans;
}

/** Returns the length of the steps that a report with these buckets is counted in. */
export function stepOf(bucket: Bucket): number {
  return bucket === 'minute' ? MINUTE_MS : QUARTER_HOUR_MS;
}

/** Returns a function that formats moments in a zone's time, with the UTC offset: `2026-11-15T14:30:00+05:45`. */
export function zoneWriter(zone: string): (atMs: number) => string {
  const clock = new ZoneClock(zone);
  return (atMs) => {
    const offsetMs = clock.offsetMs(atMs);
    const wall = new Date(atMs + offsetMs).toISOString().slice(0, 19);
    const minutes = Math.abs(offsetMs) / MINUTE_MS;
    const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((value) => String(value).padStart(2, '0'));
    return `${wall}${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`;
  };
}

/** Returns the start of the day or month that contains a moment, by a zone's clock. */
export function startOf(bucket: 'day' | 'month', atMs: number, zone: string): number {
  const clock = new ZoneClock(zone);
  const wanted = bucketNumber(clock, bucket, atMs);
  let startMs = floorTo(atMs, QUARTER_HOUR_MS);
  while (bucketNumber(clock, bucket, startMs - DAY_MS) === wanted) startMs -= DAY_MS;
  while (bucketNumber(clock, bucket, startMs - QUARTER_HOUR_MS) === wanted) startMs -= QUARTER_HOUR_MS;
  return startMs;
}

/** Returns the start of the day that is some days before a moment's day, by a zone's clock. The last seven days begin 6 days before today. */
export function startOfDayBefore(days: number, atMs: number, zone: string): number {
  // Counts back from midday, so that days of 23 or 25 hours do not shift the result to another day.
  return startOf('day', startOf('day', atMs, zone) + DAY_MS / 2 - days * DAY_MS, zone);
}

/** Returns a number that is the same for all moments of a bucket and differs from that of the next. */
function bucketNumber(clock: ZoneClock, bucket: Bucket, atMs: number): number {
  if (bucket === 'minute') return atMs / MINUTE_MS;
  if (bucket === 'quarter') return atMs / QUARTER_HOUR_MS;
  const offsetMs = clock.offsetMs(atMs);
  const wallMs = atMs + offsetMs;
  switch (bucket) {
    // An hour that occurs twice differs by its UTC offset. In quarter hours, the offset fits below the hour.
    case 'hour':
      return Math.floor(wallMs / HOUR_MS) * 256 + offsetMs / QUARTER_HOUR_MS;
    case 'day':
      return Math.floor(wallMs / DAY_MS);
    case 'week':
      return Math.floor((Math.floor(wallMs / DAY_MS) + MONDAY_DAYS) / DAYS_A_WEEK);
    case 'month': {
      const wall = new Date(wallMs);
      return wall.getUTCFullYear() * 12 + wall.getUTCMonth();
    }
  }
}

/** Extends a span to whole quarter hours. */
export function wholeQuarters({ fromMs, toMs }: Span): Span {
  return { fromMs: floorTo(fromMs, QUARTER_HOUR_MS), toMs: Math.ceil(toMs / QUARTER_HOUR_MS) * QUARTER_HOUR_MS };
}

/** Returns the end of the quarter hour that contains a moment. */
export function nextQuarter(atMs: number): number {
  return floorTo(atMs, QUARTER_HOUR_MS) + QUARTER_HOUR_MS;
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step;
}

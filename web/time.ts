/** Days, ranges and times in the user's time zone. Instants are milliseconds since 1970; days are `YYYY-MM-DD`. */

export const RANGE_NAMES = ['1h', '6h', 'today', '7d', '30d', 'month', 'custom'] as const;
export type RangeName = (typeof RANGE_NAMES)[number];

/** A range as written in the URL: its name and, if custom, its first and last day. */
export interface RangeChoice {
  readonly range: RangeName;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A time span, including its start and excluding its end. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const QUARTER_HOUR_MS = 900_000;
const HOUR_MS = 4 * QUARTER_HOUR_MS;
export const DAY_MS = 24 * HOUR_MS;
const HOURS_BACK: Readonly<Record<'1h' | '6h', number>> = { '1h': 1, '6h': 6 };
const DAYS_BACK: Readonly<Record<'today' | '7d' | '30d', number>> = { today: 0, '7d': 6, '30d': 29 };

/**
 * Returns the start and end of a range in a time zone. Ranges of days start at midnight in that zone and end after today. Ranges of hours
 * start and end on quarter hours, because usage is summed per quarter hour.
 */
export function spanOf(choice: RangeChoice, zone: string, nowMs: number): Span {
  if (choice.range === '1h' || choice.range === '6h') {
    const fromMs = Math.floor((nowMs - HOURS_BACK[choice.range] * HOUR_MS) / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
    return { fromMs, toMs: Math.floor(nowMs / QUARTER_HOUR_MS) * QUARTER_HOUR_MS + QUARTER_HOUR_MS };
  }
  const today = dayOf(nowMs, zone);
  const tomorrowMs = dayStartMs(addDays(today, 1), zone);
  if (choice.range === 'custom' && choice.from !== undefined && choice.to !== undefined) {
    const [first, last] = choice.from <= choice.to ? [choice.from, choice.to] : [choice.to, choice.from];
    return { fromMs: dayStartMs(first, zone), toMs: dayStartMs(addDays(last, 1), zone) };
  }
  if (choice.range === 'month') return { fromMs: dayStartMs(`${today.slice(0, 8)}01`, zone), toMs: tomorrowMs };
  const daysBack = choice.range === 'custom' ? DAYS_BACK['7d'] : DAYS_BACK[choice.range];
  return { fromMs: dayStartMs(addDays(today, -daysBack), zone), toMs: tomorrowMs };
}

/** The server accepts instants from 2020 to 2099 in UTC. One day less on each side keeps days of every time zone within that. */
export const FIRST_DAY = '2020-01-02';
export const LAST_DAY = '2099-12-30';

/** Tells whether the server accepts a day. */
export function isValidDay(day: string): boolean {
  return day >= FIRST_DAY && day <= LAST_DAY;
}

/** Returns the span of the same length just before. */
export function previousSpan({ fromMs, toMs }: Span): Span {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

/** Returns the day of an instant in a time zone. */
export function dayOf(instantMs: number, zone: string): string {
  return new Date(instantMs + zoneOffsetMs(instantMs, zone)).toISOString().slice(0, 10);
}

/** Returns the first instant of a day in a time zone. If daylight saving time skips midnight, that is the first instant after the gap. */
export function dayStartMs(day: string, zone: string): number {
  const asUtcMs = Date.parse(`${day}T00:00:00Z`);
  const guessMs = asUtcMs - zoneOffsetMs(asUtcMs, zone);
  const startMs = asUtcMs - zoneOffsetMs(guessMs, zone);
  return dayOf(startMs, zone) < day ? startMs + 3_600_000 : startMs;
}

/** Adds days to a day; a negative count goes back. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Formats an instant in a time zone as date and time, such as `15 Nov 2026, 14:03:09`. */
export function formatDateTime(instantMs: number, zone: string, precision: 'minute' | 'second' = 'minute'): string {
  return format(instantMs, zone, { ...DATE, hour: '2-digit', minute: '2-digit', ...(precision === 'second' && { second: '2-digit' }) });
}

/** Formats the day of an instant in a time zone, such as `15 Nov 2026`. */
export function formatDate(instantMs: number, zone: string): string {
  return format(instantMs, zone, DATE);
}

/** Formats a span with its time zone, such as `9 Nov 2026 – 15 Nov 2026, Europe/Berlin`. */
export function formatSpan({ fromMs, toMs }: Span, zone: string): string {
  if (toMs - fromMs < 12 * HOUR_MS) {
    const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
    return `${formatDateTime(fromMs, zone)} – ${format(toMs, zone, clock)}, ${zone}`;
  }
  const [first, last] = [formatDate(fromMs, zone), formatDate(toMs - 1, zone)];
  return `${first === last ? first : `${first} – ${last}`}, ${zone}`;
}

/** Formats an instant relative to now in the largest unit that fits, such as `3 hours ago`. */
export function formatRelative(instantMs: number, nowMs: number): string {
  const seconds = Math.round((instantMs - nowMs) / 1000);
  const [unit, size] = UNITS.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ?? ['second', 1];
  return RELATIVE.format(Math.trunc(seconds / size), unit);
}

const DATE: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

function format(instantMs: number, zone: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' }).format(instantMs);
}

/** Returns how far a time zone is ahead of UTC at an instant. */
function zoneOffsetMs(instantMs: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(instantMs);
  const read = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((part) => part.type === type)?.value);
  const wallMs = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'));
  return wallMs - Math.floor(instantMs / 1000) * 1000;
}

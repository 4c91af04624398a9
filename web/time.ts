/** Days, ranges and clocks in a zone of the reader's choice. Instants are milliseconds since 1970; days are `YYYY-MM-DD`. */

export const RANGE_NAMES = ['1h', '6h', 'today', '7d', '30d', 'month', 'custom'] as const;
export type RangeName = (typeof RANGE_NAMES)[number];

/** A range as it stands in the address: a name, and both days (inclusive) where it is custom. */
export interface RangeChoice {
  readonly range: RangeName;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A range of time, from its first instant up to but without its last. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const QUARTER_MS = 900_000;
const HOUR_MS = 4 * QUARTER_MS;
const DAY_MS = 24 * HOUR_MS;
const HOURS_BACK: Readonly<Record<'1h' | '6h', number>> = { '1h': 1, '6h': 6 };
const DAYS_BACK: Readonly<Record<'today' | '7d' | '30d', number>> = { today: 0, '7d': 6, '30d': 29 };

/** The instants of a range in a zone. Ranges of days begin at the zone's midnight and end after today, those of hours begin and end with quarters, which is what sums are kept by. */
export function spanOf(choice: RangeChoice, zone: string, nowMs: number): Span {
  if (choice.range === '1h' || choice.range === '6h') {
    const fromMs = Math.floor((nowMs - HOURS_BACK[choice.range] * HOUR_MS) / QUARTER_MS) * QUARTER_MS;
    return { fromMs, toMs: Math.floor(nowMs / QUARTER_MS) * QUARTER_MS + QUARTER_MS };
  }
  const today = dayOf(nowMs, zone);
  const tomorrowMs = dayStartMs(addDays(today, 1), zone);
  if (choice.range === 'custom' && choice.from !== undefined && choice.to !== undefined) {
    const [first, last] = choice.from <= choice.to ? [choice.from, choice.to] : [choice.to, choice.from];
    return { fromMs: dayStartMs(first, zone), toMs: dayStartMs(addDays(last, 1), zone) };
  }
  if (choice.range === 'month') return { fromMs: dayStartMs(`${today.slice(0, 8)}01`, zone), toMs: tomorrowMs };
  const back = choice.range === 'custom' ? DAYS_BACK['7d'] : DAYS_BACK[choice.range];
  return { fromMs: dayStartMs(addDays(today, -back), zone), toMs: tomorrowMs };
}

/** The server knows no moment before 2020 and none after 2099, in UTC; a day begins earlier by some clocks, and ends later by others. */
export const FIRST_DAY = '2020-01-02';
export const LAST_DAY = '2099-12-30';

/** Whether a day is one that can be asked for. */
export function isKnownDay(day: string): boolean {
  return day >= FIRST_DAY && day <= LAST_DAY;
}

/** The span just before, equally long. */
export function formerSpan({ fromMs, toMs }: Span): Span {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

/** The day of an instant in a zone. */
export function dayOf(instantMs: number, zone: string): string {
  return new Date(instantMs + zoneOffsetMs(instantMs, zone)).toISOString().slice(0, 10);
}

/** The first instant of a day in a zone; where midnight is skipped by summer time, the first that exists. */
export function dayStartMs(day: string, zone: string): number {
  const asUtcMs = Date.parse(`${day}T00:00:00Z`);
  const guessMs = asUtcMs - zoneOffsetMs(asUtcMs, zone);
  const startMs = asUtcMs - zoneOffsetMs(guessMs, zone);
  return dayOf(startMs, zone) < day ? startMs + 3_600_000 : startMs;
}

/** A day some days later, or earlier. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** Date and time of an instant in a zone, such as `15 Nov 2026, 14:03:09`. */
export function formatDateTime(instantMs: number, zone: string, precision: 'minute' | 'second' = 'minute'): string {
  return format(instantMs, zone, { ...DATE, hour: '2-digit', minute: '2-digit', ...(precision === 'second' && { second: '2-digit' }) });
}

/** The day of an instant in a zone, such as `15 Nov 2026`. */
export function formatDate(instantMs: number, zone: string): string {
  return format(instantMs, zone, DATE);
}

/** A span in words, with its zone, such as `9 Nov 2026 – 15 Nov 2026, Europe/Berlin`. */
export function formatSpan({ fromMs, toMs }: Span, zone: string): string {
  if (toMs - fromMs < 12 * HOUR_MS) {
    const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
    return `${formatDateTime(fromMs, zone)} – ${format(toMs, zone, clock)}, ${zone}`;
  }
  const [first, last] = [formatDate(fromMs, zone), formatDate(toMs - 1, zone)];
  return `${first === last ? first : `${first} – ${last}`}, ${zone}`;
}

/** How long ago, or until when, in the largest unit that fits, such as `3 hours ago`. */
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

/** What a zone's clocks are ahead of UTC at an instant. */
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

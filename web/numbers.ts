import { numberFormatChoice } from './number-format.ts';

/** Read once: choosing another number format reloads the page. */
const FORMAT = numberFormatChoice.get();
const WHOLE = new Intl.NumberFormat(FORMAT, { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat(FORMAT, { notation: 'compact', maximumSignificantDigits: 3 });
const PERCENT = new Intl.NumberFormat(FORMAT, { style: 'percent', maximumFractionDigits: 1 });
const SECONDS = new Intl.NumberFormat(FORMAT, { maximumFractionDigits: 2 });
const TENTHS = new Intl.NumberFormat(FORMAT, { maximumFractionDigits: 1 });
const BYTES = new Intl.NumberFormat(FORMAT, { maximumSignificantDigits: 3 });
const SECOND_MS = 1000;
const DAYS_EXACT_MAX = 10;
const FACTOR_FROM = 9;
const BYTE_UNITS = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const;

/** Formats a whole number with separators: `1,234,567`. */
export function formatCount(value: number): string {
  return WHOLE.format(value);
}

/**
 * Formats a number in few characters: `1.23M`. German has no short form for thousands, and 60.900 for 60.903 would look exact: such
 * numbers keep every digit.
 */
export function formatCompact(value: number): string {
  const isShort = COMPACT.formatToParts(value).some(({ type }) => type === 'compact');
  return (isShort ? COMPACT : WHOLE).format(value);
}

/** Formats a ratio from 0 to 1 as a percentage. Only exactly 1 is shown as 100 %, and only exactly 0 as 0 %. */
export function formatPercent(part: number): string {
  if (part < 1 && part > 0.999) return PERCENT.format(0.999);
  if (part > 0 && part < 0.001) return `<${PERCENT.format(0.001)}`;
  return PERCENT.format(part);
}

/** Formats a relative change, 0.12 as `+12%`. From a tenfold increase on, a factor says more than a percentage: `×12`. */
export function formatChange(part: number): string {
  if (part >= FACTOR_FROM) return `×${formatCount(1 + part)}`;
  const sign = part > 0 ? '+' : part < 0 ? '−' : '±';
  return `${sign}${formatPercent(Math.abs(part))}`;
}

/** Formats a number of remaining days, with tenths when few are left. */
export function formatDays(days: number): string {
  return days < DAYS_EXACT_MAX ? TENTHS.format(days) : formatCount(Math.floor(days));
}

/** Formats a file size: `840 kB`, `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = BYTE_UNITS.find(([, least]) => bytes >= least) ?? ['B', 1];
  return `${BYTES.format(bytes / size)} ${unit}`;
}

/** Formats a duration: `380 ms`, `2.41 s`. */
export function formatMs(ms: number): string {
  return ms < SECOND_MS ? `${Math.round(ms)} ms` : `${SECONDS.format(ms / SECOND_MS)} s`;
}

/** Replaces the digits of any script with ASCII digits: `１２` and `١٢` become `12`. */
export function plainDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** Returns only the digits of a text, without the space of `123 456`. */
export function digitsOf(text: string): string {
  return plainDigits(text).replaceAll(/\D/gu, '');
}

/** Returns the value of a digit. In every script the ten digits have consecutive code points, starting at zero. */
function digitValue(codePoint: number): number {
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(codePoint - before - 1))) before += 1;
  return before % 10;
}

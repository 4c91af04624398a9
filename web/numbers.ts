import { numberFormatChoice } from './number-format.ts';

/** Read once: a page is loaded anew when another way is chosen. */
const FORMAT = numberFormatChoice.get();
const WHOLE = new Intl.NumberFormat(FORMAT, { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat(FORMAT, { notation: 'compact', maximumSignificantDigits: 3 });
const PERCENT = new Intl.NumberFormat(FORMAT, { style: 'percent', maximumFractionDigits: 1 });
const SECONDS = new Intl.NumberFormat(FORMAT, { maximumFractionDigits: 2 });
const TENTHS = new Intl.NumberFormat(FORMAT, { maximumFractionDigits: 1 });
const BYTES = new Intl.NumberFormat(FORMAT, { maximumSignificantDigits: 3 });
const SECOND_MS = 1000;
const DAYS_EXACT_MAX = 10;
const BYTE_UNITS = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const;

/** A whole number with separators: `1,234,567`. */
export function formatCount(value: number): string {
  return WHOLE.format(value);
}

/** A number in few characters: `1.23M`. German has no short thousands, and 60.900 for 60.903 would look exact: then every digit stands. */
export function formatCompact(value: number): string {
  const isShort = COMPACT.formatToParts(value).some(({ type }) => type === 'compact');
  return (isShort ? COMPACT : WHOLE).format(value);
}

/** A part from 0 to 1 as per cent. What is not quite all is never shown as 100 %, nor what is not nothing as 0 %. */
export function formatPercent(part: number): string {
  if (part < 1 && part > 0.999) return PERCENT.format(0.999);
  if (part > 0 && part < 0.001) return `<${PERCENT.format(0.001)}`;
  return PERCENT.format(part);
}

/** How many days are left: tenths matter when there are few. */
export function formatDays(days: number): string {
  return days < DAYS_EXACT_MAX ? TENTHS.format(days) : formatCount(Math.floor(days));
}

/** A size of a file: `840 kB`, `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = BYTE_UNITS.find(([, least]) => bytes >= least) ?? ['B', 1];
  return `${BYTES.format(bytes / size)} ${unit}`;
}

/** A time span: `380 ms`, `2.41 s`. */
export function formatMs(ms: number): string {
  return ms < SECOND_MS ? `${Math.round(ms)} ms` : `${SECONDS.format(ms / SECOND_MS)} s`;
}

/** A text with the digits that are read here, in whatever script they were typed: `１２` and `١٢` are `12`. */
export function plainDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** The digits of a text and nothing else, such as the spaces of `123 456`. */
export function digitsOf(text: string): string {
  return plainDigits(text).replaceAll(/\D/gu, '');
}

/** Every script has its ten digits in a row, from nought on. */
function digitValue(codePoint: number): number {
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(codePoint - before - 1))) before += 1;
  return before % 10;
}

import { numberFormatChoice, type NumberFormat } from './number-format.ts';
import { plainDigits } from './numbers.ts';

/** Amounts arrive as decimal strings and are formatted from them: no amount that is shown ever becomes a floating-point number. */

/** Read once: choosing another number format reloads the page. */
const FORMAT = numberFormatChoice.get();
const INTEGER = new Intl.NumberFormat(FORMAT);
const DECIMAL_POINT = separatorsOf(FORMAT).point;
const DECIMALS_MIN = 2;
const SIGNIFICANT_MIN = 2;

/**
 * Formats a decimal amount of dollars: `$1,234.50`, and `$0.000042` rather than `$0.00`.
 * Shows two decimals, or as many as the first two significant digits need.
 */
export function formatUsd(amount: string): string {
  const { isNegative, whole, fraction } = parseAmount(amount);
  const decimals = decimalsFor(whole, fraction);
  const shown = roundTo({ whole, fraction, decimals });
  // In a rounded amount, a zero as second significant digit means something: $0.0010 may be slightly more, $0.001 is exact.
  const isRounded = /[1-9]/u.test(fraction.slice(decimals));
  const decimalsMin = isRounded && shown.whole === '0' ? leadingZeros(shown.fraction) + SIGNIFICANT_MIN : DECIMALS_MIN;
  return `${isNegative ? '−' : ''}$${groupThousands(shown.whole)}${DECIMAL_POINT}${trimZeros(shown.fraction, decimalsMin)}`;
}

/** Formats an amount with all of its digits, for a tooltip or a statement. */
export function formatUsdExact(amount: string): string {
  const { isNegative, whole, fraction } = parseAmount(amount);
  return `${isNegative ? '−' : ''}$${groupThousands(whole)}${DECIMAL_POINT}${trimZeros(fraction, DECIMALS_MIN)}`;
}

/** Formats an amount for an input: with the chosen decimal separator and without thousands separators. */
export function writeAmount(amount: string): string {
  return amount.replace('.', DECIMAL_POINT);
}

/**
 * Parses a typed amount. Returns undefined if the text is not an amount, or could be read as two different ones. Commas and points mean
 * what the chosen number format says; spaces and apostrophes can only separate thousands.
 */
export function readAmount(typed: string, format: NumberFormat = FORMAT): string | undefined {
  const { point, group } = separatorsOf(format);
  // Japanese keyboards type full-width points and commas, Arabic ones their own decimal point.
  const text = plainDigits(typed)
    .replaceAll('．', '.')
    .replaceAll('，', ',')
    .replaceAll('٫', point)
    .trim()
    .replace(/^\$\s*/u, '');
  if (text === '') return '';
  const [typedWhole = '', fraction = '', ...rest] = text.split(point);
  const whole = typedWhole.replaceAll(group, ' ');
  // In the Indian format, every group but the last has two digits.
  const isWhole = /^\d*$/u.test(whole) || /^[1-9]\d{0,2}(?:[\s'’]\d{2,3})*[\s'’]\d{3}$/u.test(whole);
  if (!isWhole || !/^\d*$/u.test(fraction) || rest.length > 0 || text === point) return undefined;
  return `${whole.replaceAll(/\D/gu, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}

function separatorsOf(format: NumberFormat): { point: string; group: string } {
  const parts = new Intl.NumberFormat(format).formatToParts(12_345.5);
  const find = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return { point: find('decimal'), group: find('group') };
}

/** Returns the sign of a decimal amount: -1, 0 or 1. */
export function signOf(amount: string): -1 | 0 | 1 {
  const { isNegative, whole, fraction } = parseAmount(amount);
  if (/^0*$/u.test(whole + fraction)) return 0;
  return isNegative ? -1 : 1;
}

/** Adds decimal amounts exactly. */
export function sumUsd(amounts: readonly string[]): string {
  const parts = amounts.map(parseAmount);
  const decimals = Math.max(0, ...parts.map(({ fraction }) => fraction.length));
  const sum = parts.reduce((total, { isNegative, whole, fraction }) => {
    const value = BigInt(whole + fraction.padEnd(decimals, '0'));
    return isNegative ? total - value : total + value;
  }, 0n);
  const digits = String(sum < 0n ? -sum : sum).padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  return `${sum < 0n ? '-' : ''}${digits.slice(0, cut)}${decimals === 0 ? '' : `.${digits.slice(cut)}`}`;
}

/** Returns the ratio of two amounts as a floating-point number, for the length of a bar. Never use it for a figure that is shown. */
export function ratioOf(amount: string, whole: string): number {
  const divisor = Number(whole);
  return divisor > 0 ? Number(amount) / divisor : 0;
}

interface Amount {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

function parseAmount(amount: string): Amount {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/u.exec(amount.trim());
  if (match === null) throw new Error(`'${amount}' is not a decimal amount.`);
  const [, sign, whole = '0', fraction = ''] = match;
  const isNegative = sign === '-' && !/^0*$/u.test(whole + fraction);
  return { isNegative, whole: whole.replace(/^0+(?=\d)/u, ''), fraction };
}

function decimalsFor(whole: string, fraction: string): number {
  const digits = fraction.replace(/0+$/u, '').length;
  if (whole !== '0' || digits === 0) return DECIMALS_MIN;
  return Math.max(DECIMALS_MIN, Math.min(digits, leadingZeros(fraction) + SIGNIFICANT_MIN));
}

function leadingZeros(fraction: string): number {
  return /^0*/u.exec(fraction)?.[0].length ?? 0;
}

function roundTo({ whole, fraction, decimals }: { whole: string; fraction: string; decimals: number }): {
  whole: string;
  fraction: string;
} {
  const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  const isUp = (fraction[decimals] ?? '0') >= '5';
  const digits = String(isUp ? kept + 1n : kept).padStart(decimals + 1, '0');
  return { whole: digits.slice(0, -decimals), fraction: digits.slice(-decimals) };
}

function trimZeros(fraction: string, decimalsMin: number): string {
  return fraction.replace(/0+$/u, '').padEnd(decimalsMin, '0');
}

function groupThousands(whole: string): string {
  return INTEGER.format(BigInt(whole));
}

import { numberFormatChoice, type NumberFormat } from './number-format.ts';
import { plainDigits } from './numbers.ts';

/** Amounts come as decimal strings and are shown from them: no amount ever becomes a floating-point number on its way to the eye. */

/** Read once: a page is loaded anew when another way to write numbers is chosen. */
const FORMAT = numberFormatChoice.get();
const WHOLE = new Intl.NumberFormat(FORMAT);
const POINT = separatorsOf(FORMAT).point;
const DECIMALS_MIN = 2;
const SIGNIFICANT_MIN = 2;

/**
 * A decimal amount of dollars for people: `$1,234.50`, and `$0.000042` rather than `$0.00`.
 * Amounts keep two decimals, or as many as their first two significant digits need.
 */
export function formatUsd(amount: string): string {
  const { isNegative, whole, fraction } = parseAmount(amount);
  const decimals = decimalsFor(whole, fraction);
  const shown = roundTo({ whole, fraction, decimals });
  // Of what was rounded, a zero that is the second digit tells something: $0.0010 may be a little more, $0.001 is not.
  const isRounded = /[1-9]/u.test(fraction.slice(decimals));
  const least = isRounded && shown.whole === '0' ? zerosOf(shown.fraction) + SIGNIFICANT_MIN : DECIMALS_MIN;
  return `${isNegative ? '−' : ''}$${groupThousands(shown.whole)}${POINT}${trimZeros(shown.fraction, least)}`;
}

/** The amount with every digit it has, for a title or a statement. */
export function formatUsdExact(amount: string): string {
  const { isNegative, whole, fraction } = parseAmount(amount);
  return `${isNegative ? '−' : ''}$${groupThousands(whole)}${POINT}${trimZeros(fraction, DECIMALS_MIN)}`;
}

/** A decimal amount as people write it, without separators of thousands, for a box to change it in. */
export function writeAmount(amount: string): string {
  return amount.replace('.', POINT);
}

/**
 * What somebody typed as a decimal amount; undefined where that is none, or could be two. Commas and points count as the
 * chosen way to write numbers has them; spaces and apostrophes can only separate thousands.
 */
export function readAmount(typed: string, format: NumberFormat = FORMAT): string | undefined {
  const { point, group } = separatorsOf(format);
  // Japanese keyboards have points and commas of their own, Arabic ones a point.
  const text = plainDigits(typed)
    .replaceAll('．', '.')
    .replaceAll('，', ',')
    .replaceAll('٫', point)
    .trim()
    .replace(/^\$\s*/u, '');
  if (text === '') return '';
  const [typedWhole = '', fraction = '', ...rest] = text.split(point);
  const whole = typedWhole.replaceAll(group, ' ');
  // In India all groups but the last have two digits.
  const isWhole = /^\d*$/u.test(whole) || /^[1-9]\d{0,2}(?:[\s'’]\d{2,3})*[\s'’]\d{3}$/u.test(whole);
  if (!isWhole || !/^\d*$/u.test(fraction) || rest.length > 0 || text === point) return undefined;
  return `${whole.replaceAll(/\D/gu, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}

function separatorsOf(format: NumberFormat): { point: string; group: string } {
  const parts = new Intl.NumberFormat(format).formatToParts(12_345.5);
  const find = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return { point: find('decimal'), group: find('group') };
}

/** The sign of a decimal amount: -1, 0 or 1. */
export function signOf(amount: string): -1 | 0 | 1 {
  const { isNegative, whole, fraction } = parseAmount(amount);
  if (/^0*$/u.test(whole + fraction)) return 0;
  return isNegative ? -1 : 1;
}

/** The exact sum of decimal amounts. */
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

/** How much one amount is of another, as a number from 0: good enough for the length of a bar, never for a figure. */
export function partOf(amount: string, whole: string): number {
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
  return Math.max(DECIMALS_MIN, Math.min(digits, zerosOf(fraction) + SIGNIFICANT_MIN));
}

function zerosOf(fraction: string): number {
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
  return WHOLE.format(BigInt(whole));
}

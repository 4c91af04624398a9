import { readAmount, writeAmount } from '../../money.ts';

/**
 * Parses a bound: dollars, or a whole number. Returns an empty text if there is none, and undefined if it is invalid. Accepts a point or
 * a comma as decimal separator, unless it could also be a thousands separator.
 */
export function readBound(kind: 'usd' | 'count', typed: string): string | undefined {
  const text = typed.trim();
  const isAmbiguous = /^[1-9]\d{0,2}[.,]\d{3}$/u.test(text);
  const read = readAmount(text) ?? (isAmbiguous ? undefined : readAmount(writeAmount(text.replace(',', '.'))));
  const pattern = kind === 'usd' ? /^(?:\d{1,12}(?:\.\d{1,9})?)?$/u : /^\d{0,12}$/u;
  return read !== undefined && pattern.test(read) ? read : undefined;
}

import { readAmount, writeAmount } from '../../money.ts';

/**
 * A bound as the server takes it: dollars, or a whole number. Empty where none is given, undefined where it cannot be read.
 * Whoever looks for something may write a point or a comma, unless that may as well separate thousands.
 */
export function readBound(kind: 'usd' | 'count', typed: string): string | undefined {
  const text = typed.trim();
  const isUnclear = /^[1-9]\d{0,2}[.,]\d{3}$/u.test(text);
  const read = readAmount(text) ?? (isUnclear ? undefined : readAmount(writeAmount(text.replace(',', '.'))));
  const form = kind === 'usd' ? /^(?:\d{1,12}(?:\.\d{1,9})?)?$/u : /^\d{0,12}$/u;
  return read !== undefined && form.test(read) ? read : undefined;
}

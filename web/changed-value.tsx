import type { ReactNode } from 'react';
import { formatUsd } from './money.ts';
import { formatCount } from './numbers.ts';
import { changes as t } from './strings/index.ts';
import { DateTime } from './ui/date-time.tsx';

interface ChangedValueProps {
  readonly field: string;
  readonly value: string | number | boolean | readonly string[] | null | undefined;
}

const AT_LIMIT: Readonly<Record<string, string>> = t.atLimit;

/** A recorded value of a changed field: a time, an amount, a list, or what was written. */
export function ChangedValue({ field, value }: ChangedValueProps): ReactNode {
  if (value === null || value === undefined) return t.none;
  if (typeof value === 'boolean') return value ? t.yes : t.no;
  if (typeof value === 'number') return field.endsWith('Ms') ? <DateTime atMs={value} mayBreak /> : formatCount(value);
  if (typeof value !== 'string') return value.length === 0 ? t.none : value.join(', ');
  if (field === 'atLimit') return AT_LIMIT[value] ?? value;
  return isAmount(field) ? formatUsd(value) : value;
}

function isAmount(field: string): boolean {
  return field === 'usd' || field.endsWith('Usd') || field.startsWith('budget.');
}

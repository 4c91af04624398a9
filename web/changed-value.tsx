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
  if (typeof value !== 'string' && value.length === 0) return t.none;
  // Isolated: between two Arabic names, the arrow would otherwise point from the new one to the old one.
  return <bdi>{wordsOf(field, value)}</bdi>;
}

function wordsOf(field: string, value: string | readonly string[]): string {
  if (typeof value !== 'string') return value.join(', ');
  if (field === 'atLimit') return AT_LIMIT[value] ?? value;
  return field === 'usd' || field.endsWith('Usd') || field.startsWith('budget.') ? formatUsd(value) : value;
}

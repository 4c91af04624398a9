import type { JSX } from 'react';
import { formatUsd, formatUsdExact, signOf } from '../money.ts';
import { cx } from './cx.ts';

interface MoneyProps {
  /** A decimal string, as the server sends it. */
  readonly usd: string;
  /** Shows positive amounts with a plus sign and in green, as in a statement. */
  readonly isSigned?: boolean;
  /** Shows every digit, for prices: amounts that are compared must not be rounded. */
  readonly isExact?: boolean;
  readonly className?: string;
}

/** An amount in tabular figures. The tooltip has every digit. */
export function Money({ usd, isSigned = false, isExact = false, className }: MoneyProps): JSX.Element {
  const isIncome = isSigned && signOf(usd) > 0;
  return (
    <span title={formatUsdExact(usd)} className={cx('figures whitespace-nowrap', isIncome && 'text-good', className)}>
      {isIncome && '+'}
      {isExact ? formatUsdExact(usd) : formatUsd(usd)}
    </span>
  );
}

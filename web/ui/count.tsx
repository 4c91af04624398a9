import type { JSX } from 'react';
import { formatCompact, formatCount } from '../numbers.ts';
import { cx } from './cx.ts';

/** A count such as tokens or requests; compact ones (`12.4k`) have all digits in their title. */
export function Count({
  value,
  isCompact = false,
  className,
}: {
  readonly value: number;
  readonly isCompact?: boolean;
  readonly className?: string;
}): JSX.Element {
  return (
    <span title={isCompact ? formatCount(value) : undefined} className={cx('figures whitespace-nowrap', className)}>
      {isCompact ? formatCompact(value) : formatCount(value)}
    </span>
  );
}

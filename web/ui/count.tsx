import type { JSX } from 'react';
import { formatCompact, formatCount } from '../numbers.ts';
import { cx } from './cx.ts';

/** A count such as tokens or requests. A compact one (`12.4k`) has all digits in its tooltip. */
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

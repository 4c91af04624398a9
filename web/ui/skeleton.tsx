import type { JSX } from 'react';
import { cx } from './cx.ts';

/** The place of something that is on its way. Give it the size of what will come. */
export function Skeleton({ className }: { readonly className?: string }): JSX.Element {
  return <span aria-hidden="true" className={cx('block h-4 animate-shimmer rounded-sm bg-line', className)} />;
}

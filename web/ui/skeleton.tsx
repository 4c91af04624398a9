import type { JSX } from 'react';
import { cx } from './cx.ts';

/** Placeholder for loading content. Give it the size of that content. */
export function Skeleton({ className }: { readonly className?: string }): JSX.Element {
  return <span aria-hidden="true" className={cx('block h-4 animate-shimmer rounded-sm bg-line', className)} />;
}

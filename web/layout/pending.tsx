import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';
import { Skeleton } from '../ui/skeleton.tsx';

/** Stands for a page whose first answer is late, so that nobody looks at an empty window. */
export function Pending(): JSX.Element {
  return (
    <main id="content" tabIndex={-1} className="mx-auto flex max-w-[76rem] flex-col gap-6 px-4 py-10 sm:px-6">
      <h1 tabIndex={-1} className="text-sm text-muted">
        {t.loading}
      </h1>
      <Skeleton className="h-40" />
    </main>
  );
}

import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';
import { Skeleton } from '../ui/skeleton.tsx';

/** Placeholder for a page that takes long to load. */
export function Pending(): JSX.Element {
  return (
    <div className="flex flex-col gap-6">
      <h1 tabIndex={-1} className="text-sm text-muted">
        {t.loading}
      </h1>
      <Skeleton className="h-40" />
    </div>
  );
}

/** Placeholder while the layout itself loads. */
export function PendingLayout(): JSX.Element {
  return (
    <main id="content" tabIndex={-1} className="mx-auto max-w-[76rem] px-4 py-10 sm:px-6">
      <Pending />
    </main>
  );
}

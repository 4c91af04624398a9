import type { JSX, ReactNode } from 'react';
import { useTitle } from './document-title.ts';

interface PageHeaderProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly actions?: ReactNode;
  /** Link back, above the title. */
  readonly back?: ReactNode;
}

/** Header of a page. Its `h1` is also the document title and gets the focus after navigation. */
export function PageHeader({ title, text, actions, back }: PageHeaderProps): JSX.Element {
  useTitle(title);
  return (
    <header className="mb-6 flex flex-wrap items-end gap-x-6 gap-y-4">
      <div className="min-w-0 flex-1 basis-80">
        {back !== undefined && <div className="mb-1 text-sm text-muted">{back}</div>}
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-tight break-words">
          {title}
        </h1>
        {text !== undefined && <p className="mt-1 max-w-2xl text-sm text-pretty text-muted">{text}</p>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

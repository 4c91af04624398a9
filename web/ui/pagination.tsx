import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';

interface PaginationProps {
  /** Description of the page, such as `50 requests`. */
  readonly text?: ReactNode;
  /** Undefined if there is no such page. */
  readonly onNewer: (() => void) | undefined;
  readonly onOlder: (() => void) | undefined;
}

/** Keyset pagination: newer and older, but no page numbers. The buttons are hidden if everything fits on one page. */
export function Pagination({ text, onNewer, onOlder }: PaginationProps): JSX.Element | null {
  const isSinglePage = onNewer === undefined && onOlder === undefined;
  if (isSinglePage && text === undefined) return null;
  return (
    <nav
      aria-label={t.pages}
      className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-4 py-2.5 text-sm sm:px-5 print:hidden"
    >
      <span className="text-muted">{text}</span>
      {!isSinglePage && (
        <span className="flex gap-2">
          <Button size="sm" disabled={onNewer === undefined} onClick={onNewer}>
            <ChevronLeft aria-hidden="true" />
            {t.newer}
          </Button>
          <Button size="sm" disabled={onOlder === undefined} onClick={onOlder}>
            {t.older}
            <ChevronRight aria-hidden="true" />
          </Button>
        </span>
      )}
    </nav>
  );
}

import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';

interface PaginationProps {
  /** What is shown, such as `50 requests`. */
  readonly text?: ReactNode;
  /** Undefined where there is no such page. */
  readonly onFormer: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** Page by page, by keyset: there is a next page and a former one, but no page 47. Where all is on one page there is nothing to press. */
export function Pagination({ text, onFormer, onNext }: PaginationProps): JSX.Element | null {
  const isAll = onFormer === undefined && onNext === undefined;
  if (isAll && text === undefined) return null;
  return (
    <nav
      aria-label={t.pages}
      className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-4 py-2.5 text-sm sm:px-5"
    >
      <span className="text-muted">{text}</span>
      {!isAll && (
        <span className="flex gap-2">
          <Button size="sm" disabled={onFormer === undefined} onClick={onFormer}>
            <ChevronLeft aria-hidden="true" />
            {t.newer}
          </Button>
          <Button size="sm" disabled={onNext === undefined} onClick={onNext}>
            {t.older}
            <ChevronRight aria-hidden="true" />
          </Button>
        </span>
      )}
    </nav>
  );
}

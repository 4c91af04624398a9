import type { JSX } from 'react';
import { ApiError } from '../api.ts';
import { kit as t } from '../strings/index.ts';
import { cx } from './cx.ts';

interface StaleNoteProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** In a card with padding, rather than along the edge of a table. */
  readonly isBoxed?: boolean;
}

/** Note above old data that is still shown because refreshing it failed. */
export function StaleNote({ error, onRetry, isBoxed = false }: StaleNoteProps): JSX.Element {
  return (
    <p
      role="status"
      className={cx('bg-warn-soft px-4 py-2 text-sm text-warn', isBoxed ? 'mb-4 rounded-md' : 'border-b border-line sm:px-5')}
    >
      {t.stale(error instanceof ApiError ? error.message : t.notShown)}{' '}
      {onRetry !== undefined && (
        <button type="button" className="font-medium underline underline-offset-2" onClick={onRetry}>
          {t.tryAgain}
        </button>
      )}
    </p>
  );
}

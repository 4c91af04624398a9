import type { JSX } from 'react';
import { ApiError } from '../api.ts';
import { kit as t } from '../strings/index.ts';

/** Note above old data that is still shown because refreshing it failed. */
export function StaleNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: (() => void) | undefined }): JSX.Element {
  return (
    <p role="status" className="border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn sm:px-5">
      {t.stale(error instanceof ApiError ? error.message : t.notShown)}{' '}
      {onRetry !== undefined && (
        <button type="button" className="font-medium underline underline-offset-2" onClick={onRetry}>
          {t.tryAgain}
        </button>
      )}
    </p>
  );
}

import type { JSX } from 'react';
import { ApiError } from '../api.ts';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { Copyable } from './copyable.tsx';

/** An error with its request id to quote to support, and a retry button. */
export function ErrorState({ error, onRetry }: { readonly error: unknown; readonly onRetry?: (() => void) | undefined }): JSX.Element {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div role="alert" className="flex flex-col items-center px-3 py-10 sm:px-6 text-center">
      <p className="max-w-full font-medium wrap-anywhere text-bad">{error instanceof ApiError ? error.message : t.notShown}</p>
      {requestId !== undefined && (
        <p className="mt-1 flex max-w-full flex-wrap items-center justify-center gap-x-1.5 text-xs text-muted">
          {t.requestId} <Copyable text={requestId} what={t.requestIdWhat} isWhole />
        </p>
      )}
      {onRetry !== undefined && (
        <Button className="mt-4" onClick={onRetry}>
          {t.tryAgain}
        </Button>
      )}
    </div>
  );
}

import type { JSX } from 'react';
import { ApiError } from '../api.ts';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { Copyable } from './copyable.tsx';

/** An error with its request id to quote to support, and a retry button. */
export function ErrorState({ error, onRetry }: { readonly error: unknown; readonly onRetry?: (() => void) | undefined }): JSX.Element {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-10 text-center">
      <p className="font-medium text-bad">{error instanceof ApiError ? error.message : t.notShown}</p>
      {requestId !== undefined && (
        <p className="mt-1 flex items-center gap-1.5 text-xs text-muted">
          {t.requestId} <Copyable text={requestId} what={t.requestIdWhat} />
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

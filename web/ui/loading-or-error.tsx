import type { JSX } from 'react';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';

interface LoadingOrErrorProps {
  /** Why loading failed; null while it is in progress. */
  readonly error: Error | null;
  readonly onRetry: () => void;
  /** Size of the placeholder. */
  readonly className: string;
}

/** Placeholder while content loads, or the error if it fails. */
export function LoadingOrError({ error, onRetry, className }: LoadingOrErrorProps): JSX.Element {
  return error === null ? <Skeleton className={className} /> : <ErrorState error={error} onRetry={onRetry} />;
}

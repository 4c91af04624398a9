import type { JSX } from 'react';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';

interface WaitingProps {
  /** Why it does not come; null while it is on its way. */
  readonly error: Error | null;
  readonly onRetry: () => void;
  /** How much room it will take. */
  readonly className: string;
}

/** Stands where something will be shown that is on its way, and tells when it will not come. */
export function Waiting({ error, onRetry, className }: WaitingProps): JSX.Element {
  return error === null ? <Skeleton className={className} /> : <ErrorState error={error} onRetry={onRetry} />;
}

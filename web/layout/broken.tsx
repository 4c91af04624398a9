import { useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { JSX } from 'react';
import { ErrorState } from '../ui/error-state.tsx';

/** A page that failed, in the place of the page. */
export function Broken({ error, reset }: ErrorComponentProps): JSX.Element {
  const router = useRouter();
  const retry = async (): Promise<void> => {
    await router.invalidate();
    reset();
  };
  return <ErrorState error={error} onRetry={() => void retry()} />;
}

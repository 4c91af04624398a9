import { useMutation } from '@tanstack/react-query';
import type { UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

/** Runs `work` once when the page opens and returns its state; `mutate` runs it again. */
export function useOnce<Result>(work: () => Promise<Result>): UseMutationResult<Result, Error, void> {
  const hasStarted = useRef(false);
  const mutation = useMutation({ mutationFn: work });
  const { mutate } = mutation;
  useEffect(() => {
    // React's strict mode runs effects twice in development.
    if (hasStarted.current) return;
    hasStarted.current = true;
    mutate();
  }, [mutate]);
  return mutation;
}

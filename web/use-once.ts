import { useMutation } from '@tanstack/react-query';
import type { UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

/** Does something when the page is opened, once, and tells how that went; `mutate` tries again. */
export function useOnce<Result>(work: () => Promise<Result>): UseMutationResult<Result, Error, void> {
  const isBegun = useRef(false);
  const running = useMutation({ mutationFn: work });
  const { mutate } = running;
  useEffect(() => {
    // Development mounts everything twice.
    if (isBegun.current) return;
    isBegun.current = true;
    mutate();
  }, [mutate]);
  return running;
}

import { useRef } from 'react';

interface Pages {
  /** Where the page that is shown begins, as the address has it; undefined for the newest. */
  readonly at: string | undefined;
  /** Where the next one begins; null where there is none, undefined while that is not known. */
  readonly next: string | null | undefined;
  readonly onGo: (at: string | undefined) => void;
}

/** The way through a list, page by page, as `Pagination` takes it. The way back is remembered; whoever came by a link goes to the newest. */
export function usePages({ at, next, onGo }: Pages): { onFormer: (() => void) | undefined; onNext: (() => void) | undefined } {
  const newer = useRef<(string | undefined)[]>([]);
  const goOn = (): void => {
    newer.current.push(at);
    onGo(next ?? undefined);
  };
  return {
    onFormer: at === undefined ? undefined : () => onGo(newer.current.pop()),
    onNext: next === null || next === undefined ? undefined : goOn,
  };
}

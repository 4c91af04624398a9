import { useRef } from 'react';

interface Pages {
  /** Start of the current page, as in the URL; undefined for the newest page. */
  readonly at: string | undefined;
  /** Start of the next older page; null if there is none, undefined while unknown. */
  readonly next: string | null | undefined;
  readonly onGo: (at: string | undefined) => void;
}

/**
 * Returns the props of `Pagination` for a list from newest to oldest. Remembers the pages visited for the way back; a user who arrived by
 * a link goes back to the newest page.
 */
export function usePages({ at, next, onGo }: Pages): { onNewer: (() => void) | undefined; onOlder: (() => void) | undefined } {
  const newerPages = useRef<(string | undefined)[]>([]);
  const goToOlder = (): void => {
    newerPages.current.push(at);
    onGo(next ?? undefined);
  };
  const goToNewer = (): void => {
    // The Back button may have left some of them already.
    if (newerPages.current.includes(at)) newerPages.current.length = newerPages.current.indexOf(at);
    onGo(newerPages.current.pop());
  };
  return {
    onNewer: at === undefined ? undefined : goToNewer,
    onOlder: next === null || next === undefined ? undefined : goToOlder,
  };
}

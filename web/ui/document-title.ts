import { useEffect } from 'react';
import { shell as t } from '../strings/index.ts';
import { viewedAccount } from '../viewed.ts';

let page = '';
let detail = '';

/** Sets the document title. `PageHeader` does so for its page. */
export function useTitle(title: string): void {
  useEffect(() => {
    page = title;
    write();
  }, [title]);
}

/** Puts an opened item or a view before the page's title, so that tabs and the history tell them apart. */
export function useTitleDetail(title: string | undefined): void {
  useEffect(() => {
    if (title === undefined || title === '') return;
    detail = title;
    write();
    return () => {
      detail = '';
      write();
    };
  }, [title]);
}

function write(): void {
  document.title = [detail, page, areaOf(location.pathname), t.name].filter((part) => part !== '').join(' · ');
}

/** Operators have pages of the same names as users. */
function areaOf(path: string): string {
  if (viewedAccount !== undefined) return t.viewed.area;
  return /^\/admin(?:\/|$)/u.test(path) ? t.groups.run : '';
}

import { VIEWABLE } from '../src/dashboard/contract.ts';

/**
 * An operator looks at somebody else's account by the same pages, at addresses of their own: `/admin/view/acct_…/usage` for `/usage`. What
 * the pages ask for is then that account's.
 */
const viewed = /^\/admin\/view\/(acct_[0-9a-z]+)(?=\/|$)/u.exec(location.pathname);

/** Whose account is looked at; undefined on one's own pages. */
export const viewedAccount = viewed?.[1];

/** What the addresses of all pages begin with. */
export const basePath = viewed?.[0] ?? '/';

/** Whether the pages are there to look at only: what would change something is refused. */
export const isOnlyViewed = viewedAccount !== undefined;

const parts: ReadonlySet<string> = new Set(VIEWABLE);

/** Whether there is a page at a path, such as `/keys/key_1`, while somebody else's account is looked at. */
export function isViewable(path: string): boolean {
  return parts.has(path.split('/')[1] ?? '');
}

/** Whether the page at an address such as `/admin/view/acct_…/start` is none of those that are there to look at. */
export function isOutOfView(address: string): boolean {
  return isOnlyViewed && address.startsWith(basePath) && !isViewable(new URL(address, location.origin).pathname.slice(basePath.length));
}

/** Where the API has what a page asks for at an address such as `/api/keys/csv`. */
export function apiAddress(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  const isTheirs = viewedAccount !== undefined && pathname.startsWith('/api/') && isViewable(pathname.slice('/api'.length));
  return isTheirs ? `/api/admin/view/${viewedAccount}${pathname.slice('/api'.length)}${search}` : address;
}

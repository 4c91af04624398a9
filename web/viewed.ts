import { VIEWABLE } from '../src/dashboard/contract.ts';

/**
 * Operators view another account through the same pages under a URL prefix: `/admin/view/acct_…/usage` instead of `/usage`. The pages
 * then load the data of that account.
 */
const viewed = /^\/admin\/view\/(acct_[0-9a-z]+)(?=\/|$)/u.exec(location.pathname);

/** Id of the account that an operator views; undefined on the user's own pages. */
export const viewedAccount = viewed?.[1];

/** Prefix of every page's path. */
export const basePath = viewed?.[0] ?? '/';

/** True while an operator views another account: the server refuses changes. */
export const isReadOnly = viewedAccount !== undefined;

const viewableSections: ReadonlySet<string> = new Set(VIEWABLE);

/** Tells whether the page at a path such as `/keys/key_1` exists while viewing another account. */
export function isViewable(path: string): boolean {
  return viewableSections.has(path.split('/')[1] ?? '');
}

/** Tells whether a URL such as `/admin/view/acct_…/start` leads to a page that does not exist while viewing another account. */
export function isHiddenWhileViewing(address: string): boolean {
  return isReadOnly && address.startsWith(basePath) && !isViewable(new URL(address, location.origin).pathname.slice(basePath.length));
}

/** Returns the URL to request for an API URL such as `/api/keys/csv`: while viewing another account, that of the account. */
export function apiUrl(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  const isOfViewedAccount = viewedAccount !== undefined && pathname.startsWith('/api/') && isViewable(pathname.slice('/api'.length));
  return isOfViewedAccount ? `/api/admin/view/${viewedAccount}${pathname.slice('/api'.length)}${search}` : address;
}

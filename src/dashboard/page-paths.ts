import { VIEWABLE } from './viewable.ts';

/** The path of every page, as in `web/routes.tsx` and `web/admin-routes.tsx`. `$id` stands for any id. */
export const PAGE_PATHS = [
  '/',
  '/models',
  '/status',
  '/docs',
  '/sign-in',
  '/sign-up',
  '/verify',
  '/forgot',
  '/reset',
  '/two-factor',
  '/welcome',
  '/setup',
  '/start',
  '/overview',
  '/keys',
  '/keys/$id',
  '/usage',
  '/requests',
  '/billing',
  '/plans',
  '/alerts',
  '/playground',
  '/settings',
  '/admin',
  '/admin/accounts',
  '/admin/accounts/$id',
  '/admin/requests',
  '/admin/payments',
  '/admin/codes',
  '/admin/plans',
  '/admin/models',
  '/admin/providers',
  '/admin/audit',
  '/admin/settings',
  '/admin/first-steps',
] as const;

const KNOWN: ReadonlySet<string> = new Set(PAGE_PATHS);
/** Lists whose entries have pages of their own. */
const PARENTS: readonly string[] = PAGE_PATHS.flatMap((path) => (path.endsWith('/$id') ? [path.slice(0, -'$id'.length)] : []));
/** The prefix under which operators view an account. */
const VIEW = /^\/admin\/view\/acct_[0-9a-z]+(?=\/|$)/u;
const VIEWED: ReadonlySet<string> = new Set(['', ...VIEWABLE]);

/** Whether there is a page at this path, which has no slash at its end. Whether a page finds its object is up to the page. */
export function isPage(path: string): boolean {
  const prefix = VIEW.exec(path)?.[0];
  if (prefix === undefined) return isKnown(path.toLowerCase());
  const rest = path.slice(prefix.length).toLowerCase();
  return VIEWED.has(rest.split('/')[1] ?? '') && isKnown(rest === '' ? '/' : rest);
}

function isKnown(path: string): boolean {
  const parent = PARENTS.find((start) => path.startsWith(start) && path.length > start.length);
  return parent === undefined ? KNOWN.has(path) : !path.slice(parent.length).includes('/');
}

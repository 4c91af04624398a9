import { compact, readChoice, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** States of an account to filter by. */
export const STATUSES = ['active', 'suspended', 'closed'] as const;

/** Search parameters: filters and page. */
export interface AccountsSearch {
  readonly q?: string;
  readonly status?: (typeof STATUSES)[number];
  readonly before?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAccountsSearch(raw: RawSearch): AccountsSearch {
  return compact({
    q: readText(raw, 'q'),
    status: readChoice(raw, 'status', STATUSES),
    before: readText(raw, 'before'),
  });
}

/** Shortens a full secret, such as a leaked one sent to the operator, to its public characters: the URL must not contain it. */
export function withoutSecret(text: string): string {
  return text.replace(/^(sk-tg-.{4}).{4,}(.{4})$/u, '$1…$2');
}

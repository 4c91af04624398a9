import { compact, readChoice, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

export const STATUSES = ['active', 'suspended', 'closed'] as const;

/** Which accounts, and the page. */
export interface AccountsSearch {
  readonly q?: string;
  readonly status?: (typeof STATUSES)[number];
  readonly before?: string;
}

export function readAccountsSearch(raw: RawSearch): AccountsSearch {
  return compact({
    q: readText(raw, 'q'),
    status: readChoice(raw, 'status', STATUSES),
    before: readText(raw, 'before'),
  });
}

/** Of a whole secret, which somebody found and sent to the operator, only what is shown of it everywhere may get into an address. */
export function withoutSecret(text: string): string {
  return text.replace(/^(sk-tg-.{4}).{4,}(.{4})$/u, '$1…$2');
}

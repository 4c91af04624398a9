import type { RequestStatus } from '../../../../src/dashboard/contract.ts';
import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import type { RangeName } from '../../../time.ts';
import { readListSearch } from '../../requests/search.ts';

const TEXTS = ['q', 'account', 'key', 'model', 'provider', 'error'] as const;

/** What requests can be filtered by; `q` is the id of one. */
export const FILTERS = [...TEXTS, 'status'] as const;

/** What refused requests can be. */
export const REFUSED_FILTERS = ['q', 'account', 'key'] as const;

/** The range, the filters, the page, and the request whose drawer is open. */
export interface AdminRequestsSearch extends Readonly<Partial<Record<(typeof TEXTS)[number], string>>> {
  readonly view?: 'all' | 'refused';
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly zone?: string;
  readonly status?: RequestStatus;
  readonly before?: string;
  readonly request?: string;
}

export function readAdminRequestsSearch(raw: RawSearch): AdminRequestsSearch {
  const texts: Readonly<Partial<Record<(typeof TEXTS)[number], string>>> = compact(
    Object.fromEntries(TEXTS.map((name) => [name, readText(raw, name)])),
  );
  return { ...texts, ...readListSearch(raw) };
}

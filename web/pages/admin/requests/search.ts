import type { RequestStatus } from '../../../../src/dashboard/contract.ts';
import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import type { RangeName } from '../../../time.ts';
import { readListSearch } from '../../requests/search.ts';

const TEXTS = ['q', 'account', 'key', 'model', 'provider', 'error'] as const;

/** Filters of requests; `q` is a request id. */
export const FILTERS = [...TEXTS, 'status'] as const;

/** Filters of refused requests. */
export const REFUSED_FILTERS = ['q', 'account', 'key'] as const;

/** Search parameters: range, filters, page, and the request open in the drawer. */
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

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAdminRequestsSearch(raw: RawSearch): AdminRequestsSearch {
  const texts: Readonly<Partial<Record<(typeof TEXTS)[number], string>>> = compact(
    Object.fromEntries(TEXTS.map((name) => [name, readText(raw, name)])),
  );
  return { ...texts, ...readListSearch(raw) };
}

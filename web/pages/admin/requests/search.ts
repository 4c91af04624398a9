import { REQUEST_STATUSES } from '../../../../src/dashboard/contract.ts';
import type { RequestStatus } from '../../../../src/dashboard/contract.ts';
import { compact, readChoice, readDay, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import { RANGE_NAMES } from '../../../time.ts';
import type { RangeName } from '../../../time.ts';
import { readZone } from '../../../zone.ts';

const TEXTS = ['q', 'account', 'key', 'model', 'provider', 'error'] as const;

/** What requests can be filtered by; `q` is the id of one. */
export const FILTERS = [...TEXTS, 'status'] as const;

/** The range, the filters, the page, and the request whose drawer is open. */
export interface AdminRequestsSearch extends Readonly<Partial<Record<(typeof TEXTS)[number], string>>> {
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
  const choices = compact({
    range: readChoice(raw, 'range', RANGE_NAMES),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    zone: readZone(raw),
    status: readChoice(raw, 'status', REQUEST_STATUSES),
    before: readText(raw, 'before'),
    request: readText(raw, 'request'),
  });
  return { ...texts, ...choices };
}

/** A change of the address; undefined takes something out. */
export type AdminRequestsChange = { readonly [Name in keyof AdminRequestsSearch]?: AdminRequestsSearch[Name] | undefined };

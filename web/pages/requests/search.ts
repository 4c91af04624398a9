import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { RANGE_NAMES } from '../../time.ts';
import type { RangeName } from '../../time.ts';

/** The range, the filters, and the request whose drawer is open. */
export interface RequestsSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly id?: string;
}

export function readRequestsSearch(raw: RawSearch): RequestsSearch {
  return compact({
    range: readChoice(raw, 'range', RANGE_NAMES),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    id: readText(raw, 'id'),
  });
}

import { compact, readChoice, readDay } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { RANGE_NAMES } from '../../time.ts';
import type { RangeName } from '../../time.ts';

/** The range that is shown. */
export interface OverviewSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
}

export function readOverviewSearch(raw: RawSearch): OverviewSearch {
  return compact({ range: readChoice(raw, 'range', RANGE_NAMES), from: readDay(raw, 'from'), to: readDay(raw, 'to') });
}

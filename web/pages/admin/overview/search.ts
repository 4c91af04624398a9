import { compact, readChoice } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import { readZone } from '../../../zone.ts';

/** Ranges of days that the page offers. */
export const RANGES = ['today', '7d', '30d', 'month'] as const;
/** One of these ranges. */
export type ServiceRange = (typeof RANGES)[number];

/** Search parameters: range and time zone. */
export interface AdminOverviewSearch {
  readonly range?: ServiceRange;
  readonly zone?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAdminOverviewSearch(raw: RawSearch): AdminOverviewSearch {
  return compact({ range: readChoice(raw, 'range', RANGES), zone: readZone(raw) });
}

import { compact, readChoice } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { readZone } from '../../zone.ts';

/** What the spend per day can be grouped by. */
export const SPEND_GROUPS = ['model', 'key', 'provider'] as const;
/** One of these groupings. */
export type SpendGroup = (typeof SPEND_GROUPS)[number];

/** Search parameters: how spend is grouped, and the time zone of its days. */
export interface OverviewSearch {
  readonly by?: SpendGroup;
  readonly zone?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readOverviewSearch(raw: RawSearch): OverviewSearch {
  return compact({ by: readChoice(raw, 'by', SPEND_GROUPS), zone: readZone(raw) });
}

import { compact, readChoice } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { readZone } from '../../zone.ts';

/** Tabs of the page. */
export const TABS = ['overview', 'settings', 'history'] as const;

/** Search parameters: the open tab and the time zone. */
export interface KeySearch {
  readonly tab?: (typeof TABS)[number];
  readonly zone?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readKeySearch(raw: RawSearch): KeySearch {
  return compact({ tab: readChoice(raw, 'tab', TABS), zone: readZone(raw) });
}

import { compact } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import { readZone } from '../../../zone.ts';

/** Search parameters: the time zone of the spend figures. */
export interface AccountSearch {
  readonly zone?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAccountSearch(raw: RawSearch): AccountSearch {
  return compact({ zone: readZone(raw) });
}

import { compact } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import { readZone } from '../../../zone.ts';

/** Search parameters: the time zone of the spend figures. */
export interface AccountSearch {
  readonly zone?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readAccountSearch(raw: RawSearch): AccountSearch {
  return compact({ zone: readZone(raw) });
}

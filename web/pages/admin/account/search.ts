import { compact } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import { readZone } from '../../../zone.ts';

/** By whose calendar spend is told. */
export interface AccountSearch {
  readonly zone?: string;
}

export function readAccountSearch(raw: RawSearch): AccountSearch {
  return compact({ zone: readZone(raw) });
}

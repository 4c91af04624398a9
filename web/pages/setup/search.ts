import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the link that the first start prints carries. */
export interface SetupSearch {
  readonly token?: string;
}

export function readSetupSearch(raw: RawSearch): SetupSearch {
  return compact({ token: readText(raw, 'token') });
}

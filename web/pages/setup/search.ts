import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters of the link that the first start prints. */
export interface SetupSearch {
  readonly token?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readSetupSearch(raw: RawSearch): SetupSearch {
  return compact({ token: readText(raw, 'token') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters of the link that the first start prints. */
export interface SetupSearch {
  readonly token?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readSetupSearch(raw: RawSearch): SetupSearch {
  return compact({ token: readText(raw, 'token') });
}

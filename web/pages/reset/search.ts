import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters of the link in the email. */
export interface ResetSearch {
  readonly token?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readResetSearch(raw: RawSearch): ResetSearch {
  return compact({ token: readText(raw, 'token') });
}

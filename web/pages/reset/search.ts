import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters of the link in the email. */
export interface ResetSearch {
  readonly token?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readResetSearch(raw: RawSearch): ResetSearch {
  return compact({ token: readText(raw, 'token') });
}

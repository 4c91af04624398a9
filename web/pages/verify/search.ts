import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the token of a verification link, or the email address to verify. */
export interface VerifySearch {
  readonly token?: string;
  readonly email?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readVerifySearch(raw: RawSearch): VerifySearch {
  return compact({ token: readText(raw, 'token'), email: readText(raw, 'email') });
}

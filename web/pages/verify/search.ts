import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the token of a verification link, or the email address to verify. */
export interface VerifySearch {
  readonly token?: string;
  readonly email?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readVerifySearch(raw: RawSearch): VerifySearch {
  return compact({ token: readText(raw, 'token'), email: readText(raw, 'email') });
}

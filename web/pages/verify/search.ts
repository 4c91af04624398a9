import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the link in a letter carries, or the address that waits for one. */
export interface VerifySearch {
  readonly token?: string;
  readonly email?: string;
}

export function readVerifySearch(raw: RawSearch): VerifySearch {
  return compact({ token: readText(raw, 'token'), email: readText(raw, 'email') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the link in a letter carries. */
export interface VerifySearch {
  readonly token?: string;
  readonly error?: string;
}

export function readVerifySearch(raw: RawSearch): VerifySearch {
  return compact({ token: readText(raw, 'token'), error: readText(raw, 'error') });
}

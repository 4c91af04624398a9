import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the link in a letter carries. */
export interface ResetSearch {
  readonly token?: string;
}

export function readResetSearch(raw: RawSearch): ResetSearch {
  return compact({ token: readText(raw, 'token') });
}

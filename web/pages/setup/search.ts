import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the link in a letter carries. */
export interface SetupSearch {
  readonly token?: string;
  readonly error?: string;
}

export function readSetupSearch(raw: RawSearch): SetupSearch {
  return compact({ token: readText(raw, 'token'), error: readText(raw, 'error') });
}

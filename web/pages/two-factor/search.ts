import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Where to go after the second factor. */
export interface TwoFactorSearch {
  readonly to?: string;
}

export function readTwoFactorSearch(raw: RawSearch): TwoFactorSearch {
  return compact({ to: readText(raw, 'to') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the page to open after signing in. */
export interface TwoFactorSearch {
  readonly to?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readTwoFactorSearch(raw: RawSearch): TwoFactorSearch {
  return compact({ to: readText(raw, 'to') });
}

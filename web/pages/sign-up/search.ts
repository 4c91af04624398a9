import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: a promo code and an invitation, filled in by a link. */
export interface SignUpSearch {
  readonly code?: string;
  readonly invitation?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readSignUpSearch(raw: RawSearch): SignUpSearch {
  return compact({ code: readText(raw, 'code'), invitation: readText(raw, 'invitation') });
}

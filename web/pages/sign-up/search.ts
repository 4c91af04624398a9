import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** A promotion's code, filled in by a link, and an invitation. */
export interface SignUpSearch {
  readonly code?: string;
  readonly invitation?: string;
}

export function readSignUpSearch(raw: RawSearch): SignUpSearch {
  return compact({ code: readText(raw, 'code'), invitation: readText(raw, 'invitation') });
}

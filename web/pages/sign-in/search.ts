import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Where to go after signing in. */
export interface SignInSearch {
  readonly to?: string;
}

export function readSignInSearch(raw: RawSearch): SignInSearch {
  return compact({ to: readText(raw, 'to') });
}

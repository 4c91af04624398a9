import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Where to go after signing in, and why a provider did not let somebody in. */
export interface SignInSearch {
  readonly to?: string;
  readonly with?: string;
  readonly error?: string;
}

export function readSignInSearch(raw: RawSearch): SignInSearch {
  return compact({ to: readText(raw, 'to'), with: readText(raw, 'with'), error: readText(raw, 'error') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the page to open after signing in, and the provider and error of a failed attempt. */
export interface SignInSearch {
  readonly to?: string;
  readonly with?: string;
  readonly error?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readSignInSearch(raw: RawSearch): SignInSearch {
  return compact({ to: readText(raw, 'to'), with: readText(raw, 'with'), error: readText(raw, 'error') });
}

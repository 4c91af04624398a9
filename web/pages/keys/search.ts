import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the address of the list of keys says. */
export interface KeysSearch {
  readonly q?: string;
}

export function readKeysSearch(raw: RawSearch): KeysSearch {
  return compact({ q: readText(raw, 'q') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which part of the page is shown. */
export interface KeySearch {
  readonly tab?: string;
}

export function readKeySearch(raw: RawSearch): KeySearch {
  return compact({ tab: readText(raw, 'tab') });
}

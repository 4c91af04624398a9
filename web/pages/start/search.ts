import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which example is shown. */
export interface StartSearch {
  readonly snippet?: string;
}

export function readStartSearch(raw: RawSearch): StartSearch {
  return compact({ snippet: readText(raw, 'snippet') });
}

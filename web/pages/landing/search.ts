import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the code example shown. */
export interface LandingSearch {
  readonly snippet?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readLandingSearch(raw: RawSearch): LandingSearch {
  return compact({ snippet: readText(raw, 'snippet') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** The model that is tried, and the language of the code. */
export interface PlaygroundSearch {
  readonly model?: string;
  readonly snippet?: string;
}

export function readPlaygroundSearch(raw: RawSearch): PlaygroundSearch {
  return compact({ model: readText(raw, 'model'), snippet: readText(raw, 'snippet') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** The model that is tried. */
export interface PlaygroundSearch {
  readonly model?: string;
}

export function readPlaygroundSearch(raw: RawSearch): PlaygroundSearch {
  return compact({ model: readText(raw, 'model') });
}

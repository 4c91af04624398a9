import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the address of the list of models says. */
export interface ModelsSearch {
  readonly q?: string;
}

export function readModelsSearch(raw: RawSearch): ModelsSearch {
  return compact({ q: readText(raw, 'q') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which part of the page is shown. */
export interface DocsSearch {
  readonly tab?: string;
}

export function readDocsSearch(raw: RawSearch): DocsSearch {
  return compact({ tab: readText(raw, 'tab') });
}

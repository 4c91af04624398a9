import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which part of the page is shown. */
export interface PlansSearch {
  readonly tab?: string;
}

export function readPlansSearch(raw: RawSearch): PlansSearch {
  return compact({ tab: readText(raw, 'tab') });
}

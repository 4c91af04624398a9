import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** What the address of the page says. */
export interface PlansSearch {
  /** The plan whose price is shown. */
  readonly plan?: string;
}

export function readPlansSearch(raw: RawSearch): PlansSearch {
  return compact({ plan: readText(raw, 'plan') });
}

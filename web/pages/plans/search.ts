import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters of the plans page. */
export interface PlansSearch {
  /** Id of the plan whose price is shown. */
  readonly plan?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readPlansSearch(raw: RawSearch): PlansSearch {
  return compact({ plan: readText(raw, 'plan') });
}

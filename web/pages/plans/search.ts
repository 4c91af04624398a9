import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters of the plans page. */
export interface PlansSearch {
  /** Id of the plan whose price is shown. */
  readonly plan?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readPlansSearch(raw: RawSearch): PlansSearch {
  return compact({ plan: readText(raw, 'plan') });
}

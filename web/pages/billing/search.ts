import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which part of the page is shown. */
export interface BillingSearch {
  readonly tab?: string;
}

export function readBillingSearch(raw: RawSearch): BillingSearch {
  return compact({ tab: readText(raw, 'tab') });
}

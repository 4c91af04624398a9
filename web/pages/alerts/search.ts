import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the alert open in the form, as `new` or its id. */
export interface AlertsSearch {
  readonly form?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAlertsSearch(raw: RawSearch): AlertsSearch {
  return compact({ form: readText(raw, 'form') });
}

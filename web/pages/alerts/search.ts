import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the alert open in the form, as `new` or its id. */
export interface AlertsSearch {
  readonly form?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readAlertsSearch(raw: RawSearch): AlertsSearch {
  return compact({ form: readText(raw, 'form') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which part of the page is shown. */
export interface AlertsSearch {
  readonly tab?: string;
}

export function readAlertsSearch(raw: RawSearch): AlertsSearch {
  return compact({ tab: readText(raw, 'tab') });
}

import { compact, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Which part of the page is shown. */
export interface SettingsSearch {
  readonly tab?: string;
}

export function readSettingsSearch(raw: RawSearch): SettingsSearch {
  return compact({ tab: readText(raw, 'tab') });
}

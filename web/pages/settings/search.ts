import { compact, readChoice } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

export const SETTINGS_TABS = ['profile', 'security', 'sessions', 'data'] as const;

/** Which part of the page is shown. */
export interface SettingsSearch {
  readonly tab?: (typeof SETTINGS_TABS)[number];
}

export function readSettingsSearch(raw: RawSearch): SettingsSearch {
  return compact({ tab: readChoice(raw, 'tab', SETTINGS_TABS) });
}

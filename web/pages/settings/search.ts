import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Tabs of the page. */
export const SETTINGS_TABS = ['profile', 'security', 'sessions', 'data'] as const;

/** Search parameters: the open tab, and the result of linking an account. */
export interface SettingsSearch {
  readonly tab?: (typeof SETTINGS_TABS)[number];
  /** Provider that was linked. */
  readonly linked?: string;
  /** Provider that could not be linked, and why. */
  readonly with?: string;
  readonly error?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readSettingsSearch(raw: RawSearch): SettingsSearch {
  return compact({
    tab: readChoice(raw, 'tab', SETTINGS_TABS),
    linked: readText(raw, 'linked'),
    with: readText(raw, 'with'),
    error: readText(raw, 'error'),
  });
}

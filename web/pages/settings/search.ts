import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

export const SETTINGS_TABS = ['profile', 'security', 'sessions', 'data'] as const;

/** Which part of the page is shown, and what came of linking an account. */
export interface SettingsSearch {
  readonly tab?: (typeof SETTINGS_TABS)[number];
  /** The provider that was linked. */
  readonly linked?: string;
  /** The provider that was tried, and why it was not linked. */
  readonly with?: string;
  readonly error?: string;
}

export function readSettingsSearch(raw: RawSearch): SettingsSearch {
  return compact({
    tab: readChoice(raw, 'tab', SETTINGS_TABS),
    linked: readText(raw, 'linked'),
    with: readText(raw, 'with'),
    error: readText(raw, 'error'),
  });
}

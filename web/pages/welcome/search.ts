import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Where to go, and whether the account was just made. */
export interface WelcomeSearch {
  readonly to?: string;
  readonly new?: 'true';
}

export function readWelcomeSearch(raw: RawSearch): WelcomeSearch {
  return compact({ to: readText(raw, 'to'), new: readChoice(raw, 'new', ['true']) });
}

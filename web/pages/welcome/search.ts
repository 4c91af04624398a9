import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the page to open, and whether the account is new. */
export interface WelcomeSearch {
  readonly to?: string;
  readonly new?: 'true';
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readWelcomeSearch(raw: RawSearch): WelcomeSearch {
  return compact({ to: readText(raw, 'to'), new: readChoice(raw, 'new', ['true']) });
}

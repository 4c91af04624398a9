import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** Search parameters: the provider open in the drawer. */
export interface AdminProvidersSearch {
  readonly id?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAdminProvidersSearch(raw: RawSearch): AdminProvidersSearch {
  return compact({ id: readText(raw, 'id') });
}

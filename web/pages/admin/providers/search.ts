import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** Search parameters: the provider open in the drawer. */
export interface AdminProvidersSearch {
  readonly id?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readAdminProvidersSearch(raw: RawSearch): AdminProvidersSearch {
  return compact({ id: readText(raw, 'id') });
}

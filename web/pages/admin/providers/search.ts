import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** The provider whose drawer is open. */
export interface AdminProvidersSearch {
  readonly id?: string;
}

export function readAdminProvidersSearch(raw: RawSearch): AdminProvidersSearch {
  return compact({ id: readText(raw, 'id') });
}

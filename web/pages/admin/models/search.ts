import { compact, readChoice, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** Which models, in which order, and the one whose drawer is open. */
export interface AdminModelsSearch {
  readonly q?: string;
  readonly provider?: string;
  readonly list?: 'different';
  readonly sort?: string;
  readonly id?: string;
  /** The check of YAML is open. */
  readonly check?: 'open';
}

export function readAdminModelsSearch(raw: RawSearch): AdminModelsSearch {
  return compact({
    q: readText(raw, 'q'),
    provider: readText(raw, 'provider'),
    list: readChoice(raw, 'list', ['different']),
    sort: readText(raw, 'sort'),
    id: readText(raw, 'id'),
    check: readChoice(raw, 'check', ['open']),
  });
}

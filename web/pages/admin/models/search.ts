import { compact, readChoice, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';
import { readZone } from '../../../zone.ts';

/** Search parameters: filters, sort order, time zone, and the model open in the drawer. */
export interface AdminModelsSearch {
  readonly q?: string;
  readonly provider?: string;
  readonly list?: 'different';
  readonly sort?: string;
  readonly id?: string;
  /** Set while the YAML check is open. */
  readonly check?: 'open';
  readonly zone?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAdminModelsSearch(raw: RawSearch): AdminModelsSearch {
  return compact({
    q: readText(raw, 'q'),
    provider: readText(raw, 'provider'),
    list: readChoice(raw, 'list', ['different']),
    sort: readText(raw, 'sort'),
    id: readText(raw, 'id'),
    check: readChoice(raw, 'check', ['open']),
    zone: readZone(raw),
  });
}

import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** Search parameters: filters and page. */
export interface AuditSearch {
  readonly action?: string;
  readonly actor?: string;
  readonly subject?: string;
  readonly before?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAuditSearch(raw: RawSearch): AuditSearch {
  return compact({
    action: readText(raw, 'action'),
    actor: readText(raw, 'actor'),
    subject: readText(raw, 'subject'),
    before: readText(raw, 'before'),
  });
}

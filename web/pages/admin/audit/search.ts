import { compact, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** Search parameters: filters and page. */
export interface AuditSearch {
  readonly action?: string;
  readonly actor?: string;
  readonly subject?: string;
  readonly before?: string;
}

/** Reads them from the URL; what is invalid is left out. */
export function readAuditSearch(raw: RawSearch): AuditSearch {
  return compact({
    action: readText(raw, 'action'),
    actor: readText(raw, 'actor'),
    subject: readText(raw, 'subject'),
    before: readText(raw, 'before'),
  });
}

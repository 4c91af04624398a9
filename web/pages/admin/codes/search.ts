import { compact, readChoice, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** States of a code to filter by. */
export const STATES = ['valid', 'not_yet', 'over', 'used_up', 'stopped'] as const;

/** Search parameters: filters, page, the open form or code, and the page of its redemptions. */
export interface CodesSearch {
  readonly campaign?: string;
  /** A code to find. */
  readonly q?: string;
  readonly state?: (typeof STATES)[number];
  readonly before?: string;
  readonly form?: 'open';
  readonly code?: string;
  readonly uses?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readCodesSearch(raw: RawSearch): CodesSearch {
  return compact({
    campaign: readText(raw, 'campaign'),
    q: readText(raw, 'q'),
    state: readChoice(raw, 'state', STATES),
    before: readText(raw, 'before'),
    form: readChoice(raw, 'form', ['open']),
    code: readText(raw, 'code'),
    uses: readText(raw, 'uses'),
  });
}

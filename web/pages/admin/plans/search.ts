import { compact, readChoice, readText } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** States of a subscription to filter by. */
export const STATES = ['active', 'cancelling', 'past_due'] as const;

/** Search parameters: the open plan, a page of its subscribers, and the plan in the form as `new` or its id. */
export interface AdminPlansSearch {
  readonly plan?: string;
  readonly state?: (typeof STATES)[number];
  readonly before?: string;
  readonly form?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readAdminPlansSearch(raw: RawSearch): AdminPlansSearch {
  return compact({
    plan: readText(raw, 'plan'),
    state: readChoice(raw, 'state', STATES),
    before: readText(raw, 'before'),
    form: readText(raw, 'form'),
  });
}

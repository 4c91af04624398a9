import { compact, readChoice, readText, type ChangeOf } from '../../../search-params.ts';
import type { RawSearch } from '../../../search-params.ts';

/** States of a payment to filter by. */
export const STATUSES = ['created', 'open', 'unknown', 'paid', 'failed', 'expired'] as const;
/** Outcomes of an event to filter by. */
export const OUTCOMES = ['received', 'refused', 'applied', 'ignored'] as const;
/** Views of the page. */
export const VIEWS = ['payments', 'transfers', 'problems', 'events', 'compare'] as const;
/** How many days can be compared. */
export const DAYS = ['7', '30', '90'] as const;

/** Search parameters: view, filters, page, and the open payment. */
export interface PaymentsSearch {
  readonly view?: (typeof VIEWS)[number];
  readonly status?: (typeof STATUSES)[number];
  readonly account?: string;
  readonly reference?: string;
  readonly outcome?: (typeof OUTCOMES)[number];
  readonly days?: (typeof DAYS)[number];
  readonly before?: string;
  readonly payment?: string;
}

/** Props of every view: the search parameters, and a function to change them. */
export interface ViewProps {
  readonly search: PaymentsSearch;
  readonly go: (change: ChangeOf<PaymentsSearch>) => void;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readPaymentsSearch(raw: RawSearch): PaymentsSearch {
  return compact({
    view: readChoice(raw, 'view', VIEWS),
    status: readChoice(raw, 'status', STATUSES),
    account: readText(raw, 'account'),
    reference: readText(raw, 'reference'),
    outcome: readChoice(raw, 'outcome', OUTCOMES),
    days: readChoice(raw, 'days', DAYS),
    before: readText(raw, 'before'),
    payment: readText(raw, 'payment'),
  });
}

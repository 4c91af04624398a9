import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Kinds of transactions to filter by. */
export const KINDS = ['usage', 'paid', 'promo', 'plan', 'manual', 'refund', 'expiry'] as const;

/** Search parameters of the billing page. */
export interface BillingSearch {
  /** Payment that the user returns from. */
  readonly payment?: string;
  /** Payment that the user abandoned. */
  readonly left?: string;
  /** Kind of entries shown in the statement. */
  readonly kind?: (typeof KINDS)[number];
  /** First and last day of the statement. */
  readonly from?: string;
  readonly to?: string;
  /** Start of the statement's page. */
  readonly after?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readBillingSearch(raw: RawSearch): BillingSearch {
  return compact({
    payment: readText(raw, 'payment'),
    left: readText(raw, 'left'),
    kind: readChoice(raw, 'kind', KINDS),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    after: readText(raw, 'after'),
  });
}

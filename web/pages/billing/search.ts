import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

export const KINDS = ['usage', 'paid', 'promo', 'plan', 'manual', 'refund', 'expiry'] as const;

/** What the address of the page says. */
export interface BillingSearch {
  /** The payment that the payer comes back from. */
  readonly payment?: string;
  /** The payment whose page was left. */
  readonly left?: string;
  /** Which movements the statement shows. */
  readonly kind?: (typeof KINDS)[number];
  /** The first and the last day of the statement. */
  readonly from?: string;
  readonly to?: string;
  /** Where the statement's page begins. */
  readonly after?: string;
}

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

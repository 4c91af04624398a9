import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { asQuery } from '../../as-query.ts';
import { compact } from '../../search-params.ts';
import { addDays, dayStartMs } from '../../time.ts';
import type { BillingSearch } from './search.ts';

const POLL_MS = 1000;
const PAGE_SIZE = '25';

/** Balance, its sources, and the payment methods on offer. */
export const billingQuery = queryOptions({ queryKey: ['billing'], queryFn: () => call(api.billing.$get()) });

/** Saved cards, which the server requests from the payment service. */
export const cardsQuery = queryOptions({ queryKey: ['cards'], queryFn: () => call(api.billing.cards.$get()), staleTime: 60_000 });

/** Settings of the automatic top-up. */
export const autoTopUpQuery = queryOptions({ queryKey: ['auto-top-up'], queryFn: () => call(api.billing['auto-top-up'].$get()) });

/** The latest payments. */
export const paymentsQuery = queryOptions({ queryKey: ['payments'], queryFn: () => call(api.billing.payments.$get()) });

/** A payment that the user waits for, polled every second until it is complete. */
export function paymentQuery(id: string) {
  return queryOptions({
    queryKey: ['payment', id],
    queryFn: () => call(api.billing.payments[':id'].$get({ param: { id } })),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === undefined || isWaiting(state.data.status) ? POLL_MS : false),
  });
}

/** Converts the statement's filters to query parameters. Days are in the user's time zone and may be given in either order. */
export function statementFilter({ kind, from, to }: BillingSearch, zone: string): Record<string, string> {
  const [first, last] = from !== undefined && to !== undefined && from > to ? [to, from] : [from, to];
  return compact({
    kind,
    from: first === undefined ? undefined : String(dayStartMs(first, zone)),
    to: last === undefined ? undefined : String(dayStartMs(addDays(last, 1), zone)),
  });
}

/** One page of the statement. */
export function statementQuery(filter: Readonly<Record<string, string>>, after: string | undefined) {
  const query = { ...filter, limit: PAGE_SIZE, ...(after !== undefined && { after }) };
  return queryOptions({ queryKey: ['statement', query], queryFn: () => call(api.statement.$get({ query: asQuery(query) })) });
}

/** The balance by source, and how to pay. */
export type Billing = ResponseBody<typeof api.billing.$get>;
/** A payment and its state. */
export type Payment = ResponseBody<(typeof api.billing.payments)[':id']['$get']>;
/** A transaction with the balance after it. */
export type StatementRow = ResponseBody<typeof api.statement.$get>['lines'][number];
/** A card saved for payments. */
export type SavedCard = ResponseBody<typeof api.billing.cards.$get>['cards'][number];

/** Tells whether users can pay here. If not, only the operator adds credit. */
export function canPay({ hasCards, bankTransfer }: Billing): boolean {
  return hasCards || bankTransfer !== null;
}

/** Tells whether the result of a payment is still open. */
export function isWaiting(status: Payment['status']): boolean {
  return status === 'created' || status === 'open' || status === 'unknown';
}

/** Reloads all data about money after a change. */
export async function refreshMoney(): Promise<void> {
  const names = ['account', 'billing', 'statement', 'payments', 'cards', 'auto-top-up', 'plans'];
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}

import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { asQuery } from '../../as-query.ts';
import { compact } from '../../search-params.ts';
import { addDays, dayStartMs } from '../../time.ts';
import type { BillingSearch } from './search.ts';

const FOLLOW_MS = 1000;
const LINES = '25';

/** The balance, its sources, and the ways to pay. */
export const billingQuery = queryOptions({ queryKey: ['billing'], queryFn: () => call(api.billing.$get()) });

/** The saved cards; the payment service is asked for them. */
export const cardsQuery = queryOptions({ queryKey: ['cards'], queryFn: () => call(api.billing.cards.$get()), staleTime: 60_000 });

export const autoTopUpQuery = queryOptions({ queryKey: ['auto-top-up'], queryFn: () => call(api.billing['auto-top-up'].$get()) });

export const paymentsQuery = queryOptions({ queryKey: ['payments'], queryFn: () => call(api.billing.payments.$get()) });

/** A payment that somebody waits for, asked for every second until it has ended. */
export function paymentQuery(id: string) {
  return queryOptions({
    queryKey: ['payment', id],
    queryFn: () => call(api.billing.payments[':id'].$get({ param: { id } })),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === undefined || isWaiting(state.data.status) ? FOLLOW_MS : false),
  });
}

/** Which movements a statement is about, as the server takes it: days begin and end where the reader is, whichever was given first. */
export function statementFilter({ kind, from, to }: BillingSearch, zone: string): Record<string, string> {
  const [first, last] = from !== undefined && to !== undefined && from > to ? [to, from] : [from, to];
  return compact({
    kind,
    from: first === undefined ? undefined : String(dayStartMs(first, zone)),
    to: last === undefined ? undefined : String(dayStartMs(addDays(last, 1), zone)),
  });
}

/** A page of the statement. */
export function statementQuery(filter: Readonly<Record<string, string>>, after: string | undefined) {
  const query = { ...filter, limit: LINES, ...(after !== undefined && { after }) };
  return queryOptions({ queryKey: ['statement', query], queryFn: () => call(api.statement.$get({ query: asQuery(query) })) });
}

export type Billing = ResponseBody<typeof api.billing.$get>;
export type Payment = ResponseBody<(typeof api.billing.payments)[':id']['$get']>;
export type StatementRow = ResponseBody<typeof api.statement.$get>['lines'][number];
export type SavedCard = ResponseBody<typeof api.billing.cards.$get>['cards'][number];

/** Whether there is a way to pay; else only the operator adds credit. */
export function canPay({ hasCards, bankTransfer }: Billing): boolean {
  return hasCards || bankTransfer !== null;
}

export function isWaiting(status: Payment['status']): boolean {
  return status === 'created' || status === 'open' || status === 'unknown';
}

/** After money has moved, everything that tells of it is asked again. */
export async function refreshMoney(): Promise<void> {
  const names = ['account', 'billing', 'statement', 'payments', 'cards', 'auto-top-up', 'plans'];
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}

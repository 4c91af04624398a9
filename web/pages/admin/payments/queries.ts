import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import { queryClient } from '../../../queries.ts';
import { compact } from '../../../search-params.ts';
import type { PaymentsSearch } from './search.ts';

const { payments } = api.admin;

/** One page of payments; the view `transfers` has bank transfers whose money has not arrived. */
export const listQuery = ({ view, status, account, reference, before }: PaymentsSearch) => {
  const query =
    view === 'transfers'
      ? compact({ provider: 'manual' as const, status: 'open' as const, before })
      : compact({ status, account, reference, before });
  return queryOptions({
    queryKey: ['admin', 'payments', 'list', query],
    queryFn: () => call(payments.$get({ query })),
    placeholderData: keepPreviousData,
  });
};

/** Payments and events that need attention. */
export const problemsQuery = queryOptions({
  queryKey: ['admin', 'payments', 'problems'],
  queryFn: () => call(payments.problems.$get()),
});

/** One page of events from Stripe. */
export const eventsQuery = ({ outcome, before }: PaymentsSearch) =>
  queryOptions({
    queryKey: ['admin', 'payments', 'events', outcome, before],
    queryFn: () => call(payments.events.$get({ query: compact({ outcome, before }) })),
    placeholderData: keepPreviousData,
  });

/** Everything about one payment. */
export const detailQuery = (id: string) =>
  queryOptions({ queryKey: ['admin', 'payments', 'one', id], queryFn: () => call(payments[':id'].$get({ param: { id } })) });

/** Reloads all data about payments after a change. */
export const refreshPayments = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['admin', 'payments'] });

/** A payment in the list. */
export type Payment = ResponseBody<typeof payments.$get>['payments'][number];
/** Everything about one payment. */
export type Detail = ResponseBody<(typeof payments)[':id']['$get']>;
/** An event from Stripe and what became of it. */
export type StripeEvent = ResponseBody<typeof payments.events.$get>['events'][number];
/** A payment or an event that needs attention. */
export type Problem = ResponseBody<typeof payments.problems.$get>['problems'][number];
/** A difference between our payments and those at Stripe. */
export type Difference = ResponseBody<typeof payments.compare.$post>['differences'][number];

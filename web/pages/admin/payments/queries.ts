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

export const problemsQuery = queryOptions({
  queryKey: ['admin', 'payments', 'problems'],
  queryFn: () => call(payments.problems.$get()),
});

export const eventsQuery = ({ outcome, before }: PaymentsSearch) =>
  queryOptions({
    queryKey: ['admin', 'payments', 'events', outcome, before],
    queryFn: () => call(payments.events.$get({ query: compact({ outcome, before }) })),
    placeholderData: keepPreviousData,
  });

export const detailQuery = (id: string) =>
  queryOptions({ queryKey: ['admin', 'payments', 'one', id], queryFn: () => call(payments[':id'].$get({ param: { id } })) });

/** Reloads all data about payments after a change. */
export const refreshPayments = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['admin', 'payments'] });

export type Payment = ResponseBody<typeof payments.$get>['payments'][number];
export type Detail = ResponseBody<(typeof payments)[':id']['$get']>;
export type StripeEvent = ResponseBody<typeof payments.events.$get>['events'][number];
export type Problem = ResponseBody<typeof payments.problems.$get>['problems'][number];
export type Difference = ResponseBody<typeof payments.compare.$post>['differences'][number];

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import type { ServiceRange } from './search.ts';

export type ServiceOverview = ResponseBody<typeof api.admin.overview.$get>;
export type TopAccounts = ResponseBody<typeof api.admin.overview.accounts.$get>;
export type Books = ResponseBody<typeof api.admin.overview.books.$get>;

/** Range and time zone shown. */
export interface Shown {
  readonly range: ServiceRange;
  readonly zone: string;
}

const REFRESH_MS = 60_000;

export function overviewQuery(query: Shown) {
  return queryOptions({
    queryKey: ['admin', 'overview', query],
    queryFn: () => call(api.admin.overview.$get({ query })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

export function accountsQuery(query: Shown) {
  return queryOptions({
    queryKey: ['admin', 'overview', 'accounts', query],
    queryFn: () => call(api.admin.overview.accounts.$get({ query })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

export const booksQuery = queryOptions({
  queryKey: ['admin', 'overview', 'books'],
  queryFn: () => call(api.admin.overview.books.$get()),
  refetchInterval: REFRESH_MS,
});

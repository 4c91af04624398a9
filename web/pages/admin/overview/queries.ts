import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import type { ServiceRange } from './search.ts';

/** Figures of all accounts together. */
export type ServiceOverview = ResponseBody<typeof api.admin.overview.$get>;
/** The accounts with the highest charges. */
export type TopAccounts = ResponseBody<typeof api.admin.overview.accounts.$get>;
/** What is owed, and the last verification of the ledger. */
export type Books = ResponseBody<typeof api.admin.overview.books.$get>;

/** Range and time zone shown. */
export interface Shown {
  readonly range: ServiceRange;
  readonly zone: string;
}

const REFRESH_MS = 60_000;

/** Figures of all accounts together. */
export function overviewQuery(query: Shown) {
  return queryOptions({
    queryKey: ['admin', 'overview', query],
    queryFn: () => call(api.admin.overview.$get({ query })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** The accounts with the highest charges. */
export function accountsQuery(query: Shown) {
  return queryOptions({
    queryKey: ['admin', 'overview', 'accounts', query],
    queryFn: () => call(api.admin.overview.accounts.$get({ query })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** What is owed, and the last verification of the ledger. */
export const booksQuery = queryOptions({
  queryKey: ['admin', 'overview', 'books'],
  queryFn: () => call(api.admin.overview.books.$get()),
  refetchInterval: REFRESH_MS,
});

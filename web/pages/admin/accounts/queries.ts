import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import type { AccountsSearch } from './search.ts';

/** One page of accounts. */
export const accountsQuery = (search: AccountsSearch) =>
  queryOptions({
    queryKey: ['admin', 'accounts', search],
    queryFn: () => call(api.admin.accounts.$get({ query: search })),
    placeholderData: keepPreviousData,
  });

/** An account in the list. */
export type AccountRow = ResponseBody<typeof api.admin.accounts.$get>['accounts'][number];

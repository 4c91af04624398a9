import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';

const REFRESH_MS = 30_000;

/** Everything about one account, refreshed while the page is open. */
export const accountPageQuery = (id: string, zone: string) =>
  queryOptions({
    queryKey: ['admin', 'account', id, zone],
    queryFn: () => call(api.admin.accounts[':id'].$get({ param: { id }, query: { zone } })),
    refetchInterval: REFRESH_MS,
  });

/** What the page of an account shows. */
export type AccountContent = ResponseBody<(typeof api.admin.accounts)[':id']['$get']>;

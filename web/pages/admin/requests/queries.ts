import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import { asQuery } from '../../../as-query.ts';
import { compact } from '../../../search-params.ts';
import { spanOf } from '../../../time.ts';
import { FILTERS, type AdminRequestsSearch } from './search.ts';

/** A request with its account. */
export type AdminRequest = ResponseBody<typeof api.admin.requests.$get>['requests'][number];

const FRESH_MS = 60_000;

/** One page of requests of all accounts. */
export function pageQuery(search: AdminRequestsSearch, zone: string, nowMs: number) {
  const { range = '7d', from, to, before } = search;
  const span = spanOf({ range, from, to }, zone, nowMs);
  const filters = FILTERS.flatMap((name) => (search[name] === undefined ? [] : [[name === 'q' ? 'id' : name, search[name]]]));
  const query = {
    from: String(span.fromMs),
    to: String(span.toMs),
    ...Object.fromEntries(filters),
    ...(before !== undefined && { before }),
  };
  return queryOptions({
    queryKey: ['admin', 'requests', query],
    queryFn: () => call(api.admin.requests.$get({ query: asQuery(query) })),
    placeholderData: keepPreviousData,
  });
}

/** One page of refused requests of all accounts. */
export function refusedQuery({ q, account, key, before }: AdminRequestsSearch) {
  const query = compact({ id: q, account, key, before });
  return queryOptions({
    queryKey: ['admin', 'requests', 'refused', query],
    queryFn: () => call(api.admin.requests.refused.$get({ query: asQuery(query) })),
  });
}

/** One request with everything known about it, except prompts and answers. */
export function detailQuery(id: string) {
  return queryOptions({
    queryKey: ['admin', 'requests', 'one', id],
    queryFn: () => call(api.admin.requests[':id'].$get({ param: { id } })),
  });
}

/** Models and providers to filter by. */
export const namesQuery = queryOptions({
  queryKey: ['admin', 'requests', 'names'],
  queryFn: () => call(api.admin.requests.names.$get()),
  staleTime: FRESH_MS,
});

import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';

const LIVE_MS = 2000;
const LIST_MS = 10_000;

/** The keys of the account, and what they spent today and this month as the zone has them. */
export function keysQuery(zone: string) {
  return queryOptions({ queryKey: ['keys', zone], queryFn: () => call(api.keys.$get({ query: { zone } })), refetchInterval: LIST_MS });
}

/** What a form may offer: models, and the limits of whoever fixes none. */
export const keyOptionsQuery = queryOptions({
  queryKey: ['key-options'],
  queryFn: () => call(api.keys.options.$get()),
  staleTime: 60_000,
});

/** Everything about one key. */
export function keyQuery(id: string, zone: string) {
  return queryOptions({ queryKey: ['key', id, zone], queryFn: () => call(api.keys[':id'].$get({ param: { id }, query: { zone } })) });
}

/** What changes from second to second, asked for while somebody looks. */
export function keyLiveQuery(id: string) {
  return queryOptions({
    queryKey: ['key-live', id],
    queryFn: () => call(api.keys[':id'].live.$get({ param: { id } })),
    refetchInterval: LIVE_MS,
    staleTime: 0,
  });
}

export type Key = ResponseBody<typeof api.keys.$get>['keys'][number];
export type Budget = Key['budgets'][number];
export type OfferedModel = ResponseBody<typeof api.keys.options.$get>['models'][number];
export type KeyPageContent = ResponseBody<(typeof api.keys)[':id']['$get']>;

/** After a change, everything that tells of keys is asked again. */
export async function refreshKeys(): Promise<void> {
  await Promise.all(['keys', 'key', 'key-live'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}

import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';

const LIVE_REFRESH_MS = 2000;
const LIST_REFRESH_MS = 10_000;

/** The account's keys, with their spend today and this month in a time zone. */
export function keysQuery(zone: string) {
  return queryOptions({
    queryKey: ['keys', zone],
    queryFn: () => call(api.keys.$get({ query: { zone } })),
    refetchInterval: LIST_REFRESH_MS,
  });
}

/** Choices for the key form: the models, and the default limits. */
export const keyOptionsQuery = queryOptions({
  queryKey: ['key-options'],
  queryFn: () => call(api.keys.options.$get()),
  staleTime: 60_000,
});

/** Everything about one key. */
export function keyQuery(id: string, zone: string) {
  return queryOptions({ queryKey: ['key', id, zone], queryFn: () => call(api.keys[':id'].$get({ param: { id }, query: { zone } })) });
}

/** Live use of a key's limits, polled while the page is open. */
export function keyLiveQuery(id: string) {
  return queryOptions({
    queryKey: ['key-live', id],
    queryFn: () => call(api.keys[':id'].live.$get({ param: { id } })),
    refetchInterval: LIVE_REFRESH_MS,
    staleTime: 0,
  });
}

/** A key in the list. */
export type Key = ResponseBody<typeof api.keys.$get>['keys'][number];
/** A spending limit of a key and how much of it is used. */
export type Budget = Key['budgets'][number];
/** A model that a key can be restricted to. */
export type OfferedModel = ResponseBody<typeof api.keys.options.$get>['models'][number];
/** What the page of a key shows. */
export type KeyPageContent = ResponseBody<(typeof api.keys)[':id']['$get']>;

/** Reloads all data about keys after a change. */
export async function refreshKeys(): Promise<void> {
  await Promise.all(['keys', 'key', 'key-live'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}

import { queryOptions } from '@tanstack/react-query';
import { api, call, type ResponseBody } from '../../api.ts';
import { asQuery } from '../../as-query.ts';
import { compact } from '../../search-params.ts';
import { spanOf } from '../../time.ts';
import { FILTERS, type RequestsSearch } from './search.ts';

/** One page of requests. */
export type RequestPage = ResponseBody<typeof api.requests.$get>;
/** A request in the list. */
export type Request = RequestPage['requests'][number];
/** One page of refused requests. */
export type RefusedPage = ResponseBody<typeof api.requests.refused.$get>;
/** A refused request in the list. */
export type Refused = RefusedPage['refused'][number];
/** Everything about one request. */
export type Detail = ResponseBody<(typeof api.requests)[':id']['$get']>;

/** A file that is prepared in the background. */
export type Export = ResponseBody<typeof api.requests.exports.$get>['exports'][number];

const LIVE_REFRESH_MS = 2000;

/** Converts the range and filters of the URL to query parameters of the server. */
export function filterOf(search: RequestsSearch, zone: string, nowMs: number): Record<string, string> {
  const { range = '7d', from, to } = search;
  const span = spanOf({ range, from, to }, zone, nowMs);
  const filters = FILTERS.flatMap((name) => {
    const value = search[name];
    return value === undefined ? [] : [[name === 'q' ? 'id' : name, value]];
  });
  return { from: String(span.fromMs), to: String(span.toMs), ...Object.fromEntries(filters) };
}

/** One page of requests, repeated while the list is live. */
export function pageQuery(filter: Readonly<Record<string, string>>, { before, live }: RequestsSearch) {
  const query = { ...filter, ...(before === undefined ? {} : { before }) };
  return queryOptions({
    queryKey: ['requests', 'page', query],
    queryFn: () => call(api.requests.$get({ query: asQuery(query) })),
    placeholderData: (previous: RequestPage | undefined) => previous,
    refetchInterval: live === 'yes' ? LIVE_REFRESH_MS : false,
    staleTime: live === 'yes' ? 0 : LIVE_REFRESH_MS,
  });
}

/** A page of refused requests. The range does not apply, because only a limited number of them is kept. */
export function refusedQuery({ q, key, http, before, live }: RequestsSearch) {
  const query = compact({ id: q, key, status: http, before });
  return queryOptions({
    queryKey: ['requests', 'refused', query],
    queryFn: () => call(api.requests.refused.$get({ query: asQuery(query) })),
    placeholderData: (previous: RefusedPage | undefined) => previous,
    refetchInterval: live === 'yes' ? LIVE_REFRESH_MS : false,
    staleTime: live === 'yes' ? 0 : LIVE_REFRESH_MS,
  });
}

/** One refused request by its id, as a list of at most one. */
export function refusedOneQuery(id: string) {
  return queryOptions({
    queryKey: ['requests', 'refused', { id }],
    queryFn: () => call(api.requests.refused.$get({ query: asQuery({ id }) })),
  });
}

/** How many requests succeeded and failed over the range. */
export function histogramQuery(filter: Readonly<Record<string, string>>, { live }: RequestsSearch) {
  return queryOptions({
    queryKey: ['requests', 'histogram', filter],
    queryFn: () => call(api.requests.histogram.$get({ query: asQuery(filter) })),
    placeholderData: (previous: ResponseBody<typeof api.requests.histogram.$get> | undefined) => previous,
    refetchInterval: live === 'yes' ? 2 * LIVE_REFRESH_MS : false,
  });
}

/** Everything about one request. */
export function detailQuery(id: string) {
  return queryOptions({ queryKey: ['requests', 'one', id], queryFn: () => call(api.requests[':id'].$get({ param: { id } })) });
}

/** Whether prompts and answers are recorded, and for how long. */
export const loggingQuery = queryOptions({ queryKey: ['requests', 'logging'], queryFn: () => call(api.requests.logging.$get()) });

/** Exported files; polled while one is being prepared. */
export const exportsQuery = queryOptions({
  queryKey: ['requests', 'exports'],
  queryFn: () => call(api.requests.exports.$get()),
  refetchInterval: ({ state: { data } }) => (data?.exports.some(isInProgress) === true ? LIVE_REFRESH_MS : false),
});

/** Tells whether a file is still being prepared. */
export function isInProgress({ state }: Pick<Export, 'state'>): boolean {
  return state === 'waiting' || state === 'running';
}

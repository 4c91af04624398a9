import { queryOptions } from '@tanstack/react-query';
import { api, call, type ResponseBody } from '../../api.ts';
import { asQuery } from '../../as-query.ts';
import { compact } from '../../search-params.ts';
import { spanOf } from '../../time.ts';
import { FILTERS, type RequestsSearch } from './search.ts';

export type RequestPage = ResponseBody<typeof api.requests.$get>;
export type Request = RequestPage['requests'][number];
export type RefusedPage = ResponseBody<typeof api.requests.refused.$get>;
export type Refused = RefusedPage['refused'][number];
export type Detail = ResponseBody<(typeof api.requests)[':id']['$get']>;

export type Export = ResponseBody<typeof api.requests.exports.$get>['exports'][number];

const LIVE_MS = 2000;

/** The range and the filters of the address, as the server takes them. */
export function filterOf(search: RequestsSearch, zone: string, nowMs: number): Record<string, string> {
  const { range = '7d', from, to } = search;
  const span = spanOf({ range, from, to }, zone, nowMs);
  const filters = FILTERS.flatMap((name) => {
    const value = search[name];
    return value === undefined ? [] : [[name === 'q' ? 'id' : name, value]];
  });
  return { from: String(span.fromMs), to: String(span.toMs), ...Object.fromEntries(filters) };
}

export function pageQuery(filter: Readonly<Record<string, string>>, { before, live }: RequestsSearch) {
  const query = { ...filter, ...(before === undefined ? {} : { before }) };
  return queryOptions({
    queryKey: ['requests', 'page', query],
    queryFn: () => call(api.requests.$get({ query: asQuery(query) })),
    placeholderData: (former: RequestPage | undefined) => former,
    refetchInterval: live === 'yes' ? LIVE_MS : false,
    staleTime: live === 'yes' ? 0 : LIVE_MS,
  });
}

/** A page of what was refused. It is not told by the range: there are only so many. */
export function refusedQuery({ q, key, http, before, live }: RequestsSearch) {
  const query = compact({ id: q, key, status: http, before });
  return queryOptions({
    queryKey: ['requests', 'refused', query],
    queryFn: () => call(api.requests.refused.$get({ query: asQuery(query) })),
    placeholderData: (former: RefusedPage | undefined) => former,
    refetchInterval: live === 'yes' ? LIVE_MS : false,
    staleTime: live === 'yes' ? 0 : LIVE_MS,
  });
}

/** One of them, in a list that is otherwise empty. */
export function refusedOneQuery(id: string) {
  return queryOptions({
    queryKey: ['requests', 'refused', { id }],
    queryFn: () => call(api.requests.refused.$get({ query: asQuery({ id }) })),
  });
}

export function histogramQuery(filter: Readonly<Record<string, string>>, { live }: RequestsSearch) {
  return queryOptions({
    queryKey: ['requests', 'histogram', filter],
    queryFn: () => call(api.requests.histogram.$get({ query: asQuery(filter) })),
    placeholderData: (former: ResponseBody<typeof api.requests.histogram.$get> | undefined) => former,
    refetchInterval: live === 'yes' ? 2 * LIVE_MS : false,
  });
}

export function detailQuery(id: string) {
  return queryOptions({ queryKey: ['requests', 'one', id], queryFn: () => call(api.requests[':id'].$get({ param: { id } })) });
}

export const loggingQuery = queryOptions({ queryKey: ['requests', 'logging'], queryFn: () => call(api.requests.logging.$get()) });

/** The files that were asked for; looked at often while one is being made. */
export const exportsQuery = queryOptions({
  queryKey: ['requests', 'exports'],
  queryFn: () => call(api.requests.exports.$get()),
  refetchInterval: ({ state: { data } }) => (data?.exports.some(isUnderWay) === true ? LIVE_MS : false),
});

export function isUnderWay({ state }: Pick<Export, 'state'>): boolean {
  return state === 'waiting' || state === 'running';
}

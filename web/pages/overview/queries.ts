import { queryOptions } from '@tanstack/react-query';
import { api, call, type ResponseBody } from '../../api.ts';
import type { SpendGroup } from './search.ts';

/** Figures and notices of the overview. */
export type Overview = ResponseBody<typeof api.overview.$get>;
/** A period with the one before it. */
export type Period = Overview['periods']['today'];
/** Spend per day, for the chart. */
export type Spend = ResponseBody<typeof api.overview.spend.$get>;
/** The keys and models with the highest spend. */
export type Top = ResponseBody<typeof api.overview.top.$get>;

const REFRESH_MS = 30_000;

/** Figures and notices in the calendar of a time zone. */
export function overviewQuery(zone: string) {
  return queryOptions({
    queryKey: ['overview', zone],
    queryFn: () => call(api.overview.$get({ query: { zone, by: 'model' } })),
    refetchInterval: REFRESH_MS,
  });
}

/** Spend per day, in one grouping. */
export function spendQuery(zone: string, by: SpendGroup) {
  return queryOptions({
    queryKey: ['overview', 'spend', zone, by],
    queryFn: () => call(api.overview.spend.$get({ query: { zone, by } })),
    placeholderData: (previous: Spend | undefined) => previous,
    refetchInterval: REFRESH_MS,
  });
}

/** The keys and models with the highest spend. */
export function topQuery(zone: string) {
  return queryOptions({
    queryKey: ['overview', 'top', zone],
    queryFn: () => call(api.overview.top.$get({ query: { zone, by: 'model' } })),
    refetchInterval: REFRESH_MS,
  });
}

/** The latest failed requests. */
export function errorsQuery(zone: string) {
  return queryOptions({
    queryKey: ['overview', 'errors', zone],
    queryFn: () => call(api.overview.errors.$get({ query: { zone, by: 'model' } })),
    refetchInterval: REFRESH_MS,
  });
}

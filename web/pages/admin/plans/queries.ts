import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import { queryClient } from '../../../queries.ts';
import { formatCount } from '../../../numbers.ts';
import { adminPlans as t } from '../../../strings/index.ts';
import type { AdminPlansSearch } from './search.ts';

/** All plans with their figures. */
export const adminPlansQuery = queryOptions({ queryKey: ['admin', 'plans'], queryFn: () => call(api.admin.plans.$get()) });

/** One page of a plan's subscribers. */
export const subscribersQuery = (id: string, { state, before }: AdminPlansSearch) =>
  queryOptions({
    queryKey: ['admin', 'plans', id, { state, before }],
    queryFn: () => call(api.admin.plans[':id'].subscribers.$get({ param: { id }, query: { state, before } })),
    placeholderData: keepPreviousData,
  });

/** A plan with its subscribers and revenue. */
export type AdminPlan = ResponseBody<typeof api.admin.plans.$get>['plans'][number];
/** An account that has the plan. */
export type Subscriber = ResponseBody<(typeof api.admin.plans)[':id']['subscribers']['$get']>['subscribers'][number];

/** Loads the plans again after a change. */
export async function refreshAdminPlans(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['admin', 'plans'] });
}

/** Describes the limits of each key of a subscriber. */
export function describeLimits({ requestsPerMinute, tokensPerMinute, concurrent }: AdminPlan): string {
  const limits = [
    ...(requestsPerMinute === null ? [] : [t.drawer.rpm(formatCount(requestsPerMinute))]),
    ...(tokensPerMinute === null ? [] : [t.drawer.tpm(formatCount(tokensPerMinute))]),
    ...(concurrent === null ? [] : [t.drawer.concurrent(formatCount(concurrent))]),
  ];
  return limits.length === 0 ? t.drawer.noLimits : limits.join(', ');
}

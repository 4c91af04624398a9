import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';

const LIST_MS = 5000;

/** What is offered, and what the account has. Asked again while somebody looks: plans are renewed at any moment. */
export const plansQuery = queryOptions({ queryKey: ['plans'], queryFn: () => call(api.plans.$get()), refetchInterval: LIST_MS });

/** What a plan costs at this moment. */
export function quoteQuery(planId: string) {
  return queryOptions({
    queryKey: ['plan-quote', planId],
    queryFn: () => call(api.plans.quote.$get({ query: { planId } })),
    staleTime: 60_000,
    gcTime: 0,
  });
}

export type PlansContent = ResponseBody<typeof api.plans.$get>;
export type Plan = PlansContent['plans'][number];
export type Subscription = NonNullable<PlansContent['subscription']>;
export type Quote = ResponseBody<typeof api.plans.quote.$get>;

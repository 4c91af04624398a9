import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';

const REFRESH_MS = 5000;

/** Plans on offer and the account's own. Refreshed while the page is open, since a plan may renew at any moment. */
export const plansQuery = queryOptions({ queryKey: ['plans'], queryFn: () => call(api.plans.$get()), refetchInterval: REFRESH_MS });

/** Current price of a plan for this account. */
export function quoteQuery(planId: string) {
  return queryOptions({
    queryKey: ['plan-quote', planId],
    queryFn: () => call(api.plans.quote.$get({ query: { planId } })),
    staleTime: 60_000,
    gcTime: 0,
  });
}

/** What the page shows. */
export type PlansContent = ResponseBody<typeof api.plans.$get>;
/** A plan on offer. */
export type Plan = PlansContent['plans'][number];
/** The account's subscription. */
export type Subscription = NonNullable<PlansContent['subscription']>;
/** What a change of plan costs now. */
export type Quote = ResponseBody<typeof api.plans.quote.$get>;

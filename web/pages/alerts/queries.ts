import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';

const REFRESH_MS = 10_000;

/** Rules, channels and deliveries. */
export const alertsQuery = queryOptions({ queryKey: ['alerts'], queryFn: () => call(api.alerts.$get()), refetchInterval: REFRESH_MS });

/** What the page shows. */
export type AlertsContent = ResponseBody<typeof api.alerts.$get>;
/** An alert that was set up. */
export type Rule = AlertsContent['rules'][number];
/** A message that was sent or is to be sent. */
export type Delivery = AlertsContent['deliveries'][number];

/** Loads the alerts again after a change. */
export async function refreshAlerts(): Promise<void> {
  await queryClient.invalidateQueries(alertsQuery);
}

import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import { queryClient } from '../../../queries.ts';

/** Settings of the service, open invitations, and the announcement. */
export const serviceQuery = queryOptions({ queryKey: ['admin', 'settings'], queryFn: () => call(api.admin.settings.$get()) });

/** Loads the settings again after a change. */
export const refreshService = (): Promise<void> => queryClient.invalidateQueries({ queryKey: serviceQuery.queryKey });

/** The settings that the server runs with. */
export type Service = ResponseBody<typeof api.admin.settings.$get>;

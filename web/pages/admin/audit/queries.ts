import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import type { AuditSearch } from './search.ts';

/** One page of the audit log. */
export const auditQuery = (search: AuditSearch) =>
  queryOptions({
    queryKey: ['admin', 'audit', search],
    queryFn: () => call(api.admin.audit.$get({ query: search })),
    placeholderData: keepPreviousData,
  });

/** One action in the audit log. */
export type AuditEntry = ResponseBody<typeof api.admin.audit.$get>['entries'][number];

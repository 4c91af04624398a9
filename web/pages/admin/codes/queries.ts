import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';
import { formatUsd } from '../../../money.ts';
import { queryClient } from '../../../queries.ts';
import { adminCodes as t } from '../../../strings/index.ts';
import type { CodesSearch } from './search.ts';

/** One page of codes. */
export const codesQuery = ({ campaign, state, q, before }: CodesSearch) =>
  queryOptions({
    queryKey: ['admin', 'codes', { campaign, state, q, before }],
    queryFn: () => call(api.admin.codes.$get({ query: { campaign, state, code: q, before } })),
    placeholderData: keepPreviousData,
  });

/** One code, with a page of its redemptions. */
export const codeQuery = (id: string, before: string | undefined) =>
  queryOptions({
    queryKey: ['admin', 'codes', id, before],
    queryFn: () => call(api.admin.codes[':id'].$get({ param: { id }, query: { before } })),
  });

/** One page of codes, with all campaigns. */
export type CodesContent = ResponseBody<typeof api.admin.codes.$get>;
/** A code, without its secret part. */
export type Code = CodesContent['codes'][number];
/** One use of a code. */
export type Redemption = ResponseBody<(typeof api.admin.codes)[':id']['$get']>['redemptions'][number];

/** Loads the codes again after a change. */
export async function refreshCodes(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['admin', 'codes'] });
}

/** Describes the benefit of a code. */
export function describeBenefit({ usd, percent, planId, periods }: Code['benefit']): string {
  if (planId !== null) return t.plan(planId, periods ?? 1);
  return percent === null ? t.credit(formatUsd(usd ?? '0')) : t.bonus(percent, formatUsd(usd ?? '0'));
}

/** Stops one code or a campaign, and returns the message to show. */
export async function stop(which: { readonly id: string } | { readonly campaign: string }): Promise<string> {
  const response = 'id' in which ? api.admin.codes[':id'].stop.$post({ param: which }) : api.admin.codes.stop.$post({ json: which });
  const { stopped } = await call(response);
  await refreshCodes();
  return t.stopped(stopped);
}

import { queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';

const { providers } = api.admin;
const REFRESH_MS = 60_000;

/** All providers with their health. */
export const providersQuery = queryOptions({
  queryKey: ['admin', 'providers'],
  queryFn: () => call(providers.$get()),
  refetchInterval: REFRESH_MS,
});

/** Configured providers, and those that could be. */
export type ProviderLists = ResponseBody<typeof providers.$get>;
/** A configured provider with its health. */
export type ShownProvider = ProviderLists['configured'][number];
/** A provider that is not configured. */
export type KnownProvider = ProviderLists['known'][number];

/** Makes one real call to a provider. */
export const testProvider = (id: string, model: string) => call(providers[':id'].test.$post({ param: { id }, json: { model } }));

/** Disables or enables a provider. */
export async function switchProvider(id: string, to: 'disable' | 'enable'): Promise<{ readonly isDisabled: boolean }> {
  const one = providers[':id'];
  return to === 'disable' ? call(one.disable.$post({ param: { id } })) : call(one.enable.$post({ param: { id } }));
}

/** The result of a test call. */
export type Trial = Awaited<ReturnType<typeof testProvider>>;

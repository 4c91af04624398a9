import { notifyManager, QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError, api, call } from './api.ts';
import type { Answer } from './api.ts';
import { noticeSignedIn } from './session-end.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 10_000;

// A button must be busy before the next press of a double click comes: two keys were made, and the secret of one was never shown.
notifyManager.setScheduler(queueMicrotask);

/** What was asked of the server, remembered for a moment. Refusals are not tried again: they would be the same. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES_MAX && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

/** What pages must know before anybody is signed in: who may sign up, and whether letters can be sent. */
export const setupQuery = queryOptions({ queryKey: ['setup'], queryFn: () => call(api.setup.$get()), staleTime: Number.POSITIVE_INFINITY });

/** The account of whoever is signed in: address, balance, what is set aside. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: async () => {
    const account = await call(api.account.$get());
    noticeSignedIn();
    return account;
  },
  refetchInterval: 30_000,
});

/** The price list with what was measured in the last day. Everybody may see it. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: () => call(api.models.$get()),
  staleTime: 60_000,
});

/** A model of the price list. */
export type ListedModel = Answer<typeof api.models.$get>['models'][number];

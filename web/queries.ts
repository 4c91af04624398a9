import { MutationCache, notifyManager, QueryClient, queryOptions, type Mutation } from '@tanstack/react-query';
import { ApiError, api, call } from './api.ts';
import type { ResponseBody } from './api.ts';
import { handleSignedIn } from './session-end.ts';
import { toast } from './ui/toast.tsx';

const RETRIES_MAX = 2;
const FRESH_MS = 10_000;

// A button must become busy before the second press of a double click arrives. Otherwise two keys are created, and the secret of one is
// never shown.
notifyManager.setScheduler(queueMicrotask);

/** Changes whose form or page has been left while they were sent. */
const left = new WeakSet<Mutation<unknown, unknown>>();
const mutationCache = new MutationCache({
  onError: (error, _variables, _result, mutation) => {
    // Its form would have shown the error. Those with an `onError` of their own report it wherever the user is.
    if (left.has(mutation) && mutation.options.onError === undefined) toast('bad', error.message);
  },
});
mutationCache.subscribe(({ type, mutation }) => {
  if (type === 'observerRemoved') left.add(mutation);
  if (type === 'observerAdded') left.delete(mutation);
});

/**
 * Short-lived cache of server responses. 4xx responses are not retried: the result would be the same. Without a connection everything
 * fails, because a change that waits for one would be made when nobody expects it any more.
 */
export const queryClient = new QueryClient({
  mutationCache,
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: FRESH_MS,
      retry: (count, error) => count < RETRIES_MAX && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

/** Settings that pages need before sign-in: who may sign up, and whether emails can be sent. */
export const setupQuery = queryOptions({ queryKey: ['setup'], queryFn: () => call(api.setup.$get()), staleTime: Number.POSITIVE_INFINITY });

/** Account of the signed-in user: email address, balance, holds. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: async () => {
    const account = await call(api.account.$get());
    handleSignedIn();
    return account;
  },
  refetchInterval: 30_000,
});

/** Price list with the measurements of the last day. It is public. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: () => call(api.models.$get()),
  staleTime: 60_000,
});

/** One model of the price list. */
export type ListedModel = ResponseBody<typeof api.models.$get>['models'][number];

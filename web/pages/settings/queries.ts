import { queryOptions, useMutation } from '@tanstack/react-query';
import type { UseMutationResult } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { settings as t } from '../../strings/index.ts';
import { toast } from '../../ui/toast.tsx';

/** Settings of the user. */
export type Profile = ResponseBody<typeof api.settings.$get>;

/** Profile and security settings. */
export const profileQuery = queryOptions({ queryKey: ['settings'], queryFn: () => call(api.settings.$get()) });
/** Devices that are signed in. */
export const sessionsQuery = queryOptions({ queryKey: ['settings', 'sessions'], queryFn: () => call(api.settings.sessions.$get()) });
/** Passkeys of the account. */
export const passkeysQuery = queryOptions({ queryKey: ['settings', 'passkeys'], queryFn: () => call(api.settings.passkeys.$get()) });

/** Accounts elsewhere that sign in to this one. */
export const linkedAccountsQuery = queryOptions({
  queryKey: ['settings', 'linked-accounts'],
  queryFn: () => call(api.settings['linked-accounts'].$get()),
});

type Change = Parameters<typeof api.settings.$patch>[0]['json'];

/** Returns a mutation that changes the profile and reports the result. */
export function useProfileChange(): UseMutationResult<Profile, Error, Change> {
  return useMutation({
    mutationFn: (change: Change) => call(api.settings.$patch({ json: change })),
    onSuccess: (profile) => {
      queryClient.setQueryData(profileQuery.queryKey, profile);
      toast('good', t.saved);
    },
  });
}

/** For a change without a form, which would show the error. */
export const ERROR_AS_TOAST = { onError: (error: Error): void => toast('bad', error.message) } as const;

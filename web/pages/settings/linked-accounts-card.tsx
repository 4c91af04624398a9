import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { goToProvider, providerError } from '../../providers.ts';
import { queryClient, setupQuery } from '../../queries.ts';
import { settings } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { linkedAccountsQuery } from './queries.ts';

const t = settings.linked;
const route = getRouteApi('/app/settings');

/** Linked accounts at identity providers. Not shown if there are no providers. */
export function LinkedAccountsCard(): JSX.Element | null {
  const { data: setup } = useQuery(setupQuery);
  const { data, error, refetch } = useQuery(linkedAccountsQuery);
  const unlink = useMutation({
    mutationFn: (id: string) => call(api.settings['linked-accounts'][':id'].$delete({ param: { id } })),
    onSuccess: async () => {
      toast('good', t.removed);
      await queryClient.invalidateQueries({ queryKey: linkedAccountsQuery.queryKey });
    },
  });
  const link = useMutation({ mutationFn: (id: string) => goToProvider(id, { purpose: 'link' }) });
  const providers = setup?.providers ?? [];
  if (providers.length === 0 && (data?.linked.length ?? 0) === 0) return null;
  const failure = unlink.error ?? link.error;
  return (
    <Card title={t.title} hint={t.hint}>
      <LinkResult providers={providers} />
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton className="h-8 w-full" />}
      {data?.linked.length === 0 && <p className="mb-4 text-sm text-muted">{t.none}</p>}
      <ul className="flex flex-col gap-2 not-empty:mb-4">
        {data?.linked.map(({ id, name, createdAt }) => (
          <li key={id} className="flex flex-wrap items-center justify-between gap-2 text-sm">
            <span className="min-w-0 break-words">
              {name}{' '}
              <span className="text-muted">
                {t.since} <DateTime atMs={Date.parse(createdAt)} />
              </span>
            </span>
            <Button
              size="sm"
              variant="danger"
              aria-label={t.removeOne(name)}
              isBusy={unlink.isPending && unlink.variables === id}
              onClick={() => unlink.mutate(id)}
            >
              {t.remove}
            </Button>
          </li>
        ))}
      </ul>
      {failure !== null && (
        <p role="alert" className="mb-4 text-sm font-medium text-bad">
          {failure.message}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {providers
          .filter(({ id }) => data?.linked.every(({ provider }) => provider !== id) === true)
          .map(({ id, name }) => (
            <Button key={id} isBusy={link.isPending && link.variables === id} onClick={() => link.mutate(id)}>
              {t.add(name)}
            </Button>
          ))}
      </div>
    </Card>
  );
}

/** Result of linking an account, after the provider redirects back. */
function LinkResult({ providers }: { readonly providers: readonly { readonly id: string; readonly name: string }[] }): JSX.Element | null {
  const { linked, with: providerId, error } = route.useSearch();
  const nameOf = (id: string | undefined): string | undefined => providers.find((provider) => provider.id === id)?.name;
  if (error !== undefined)
    return (
      <div className="mb-4">
        <Banner tone="bad" title={t.failed}>
          {providerError(error, nameOf(providerId))}
        </Banner>
      </div>
    );
  const name = nameOf(linked);
  if (name === undefined) return null;
  return (
    <div className="mb-4">
      <Banner tone="good" title={t.added(name)} />
    </div>
  );
}

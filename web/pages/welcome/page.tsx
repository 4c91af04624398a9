import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { JSX } from 'react';
import { goIn, hasSession } from '../../session.ts';
import { finishSignUp } from '../../sign-up.ts';
import { welcome as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

const route = getRouteApi('/account/welcome');

/** Where a provider's way ends: a new account gets its first key, everybody else goes on. Opened again, it does the same as signing in. */
export function WelcomePage(): JSX.Element {
  const { to, new: isNew } = route.useSearch();
  const navigate = useNavigate();
  const arrive = useQuery({
    queryKey: ['welcome'],
    queryFn: async () => {
      if (!(await hasSession())) await navigate({ to: '/sign-in', replace: true });
      else if (isNew === 'true') await begin();
      else await goIn(to);
      return true;
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const begin = async (): Promise<void> => {
    await finishSignUp();
    await navigate({ to: '/start', replace: true });
  };
  return (
    <>
      <PageHeader title={t.title} />
      <Card>
        {arrive.error === null ? <p role="status">{t.text}</p> : <ErrorState error={arrive.error} onRetry={() => void arrive.refetch()} />}
      </Card>
    </>
  );
}

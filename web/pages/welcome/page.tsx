import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { JSX } from 'react';
import { enterDashboard, hasSession } from '../../session.ts';
import { finishSignUp } from '../../sign-up.ts';
import { welcome as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { useOnce } from '../../use-once.ts';

const route = getRouteApi('/account/welcome');

/**
 * Landing point after signing in through a provider. A new account gets its first key; others go straight to the dashboard. Opening the
 * page again does not create a second key.
 */
export function WelcomePage(): JSX.Element {
  const { to, new: isNew } = route.useSearch();
  const navigate = useNavigate();
  const arrive = useOnce(async () => {
    if (!(await hasSession())) return navigate({ to: '/sign-in', replace: true });
    if (isNew !== 'true') return enterDashboard(to);
    await finishSignUp();
    return navigate({ to: '/start', replace: true });
  });
  return (
    <>
      <PageHeader title={t.title} />
      <Card>
        {arrive.error === null ? <p role="status">{t.text}</p> : <ErrorState error={arrive.error} onRetry={() => arrive.mutate()} />}
      </Card>
    </>
  );
}

import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { plans as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { MyPlan } from './my-plan.tsx';
import { PlanCard } from './plan-card.tsx';
import { plansQuery } from './queries.ts';
import { TakePlan } from './take-plan.tsx';

const route = getRouteApi('/app/plans');

/** Plans: those on offer, the account's own, and changing between them. */
export function PlansPage(): JSX.Element {
  const { data, error, refetch } = useQuery(plansQuery);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (plan: string | undefined): void => void navigate({ search: plan === undefined ? {} : { plan }, resetScroll: false });
  const chosen = data?.plans.find(({ id }) => id === search.plan);
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton className="h-48" />}
      {data?.subscription && <MyPlan subscription={data.subscription} hasCards={data.hasCards} />}
      {data?.plans.length === 0 && !data.subscription && (
        <Card isFlush>
          <EmptyState {...t.empty} />
        </Card>
      )}
      <ul className="grid gap-6 sm:grid-cols-2 xl:grid-cols-3">
        {data?.plans.map((plan) => (
          <li key={plan.id} className="flex">
            <PlanCard plan={plan} subscription={data.subscription} onChoose={() => choose(plan.id)} />
          </li>
        ))}
      </ul>
      {data !== undefined && chosen !== undefined && <TakePlan plan={chosen} content={data} onClose={() => choose(undefined)} />}
    </>
  );
}

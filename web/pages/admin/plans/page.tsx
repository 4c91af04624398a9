import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { JSX } from 'react';
import { isMinorStep, undoStep } from '../../../back-button.ts';
import { sumUsd } from '../../../money.ts';
import { formatCount } from '../../../numbers.ts';
import { compact, type ChangeOf } from '../../../search-params.ts';
import { adminPlans as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { PlanDrawer } from './plan-drawer.tsx';
import { PlanForm } from './plan-form.tsx';
import { adminPlansQuery, describeLimits, type AdminPlan } from './queries.ts';
import type { AdminPlansSearch } from './search.ts';

const route = getRouteApi('/app/admin/plans');

/** Plans with their subscribers and revenue. */
export function AdminPlansPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(adminPlansQuery);
  const go = (change: ChangeOf<AdminPlansSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, ...change }), replace: isMinorStep(), resetScroll: false });
  const find = (id: string | undefined): AdminPlan | undefined => data?.plans.find((plan) => plan.id === id);
  const createButton = (
    <Button variant="primary" onClick={() => go({ form: 'new' })}>
      <Plus aria-hidden="true" />
      {t.make}
    </Button>
  );
  const planInForm = find(search.form);
  return (
    <>
      <PageHeader title={t.title} text={t.text} actions={createButton} />
      <Card isFlush>
        <Table
          caption={t.caption}
          columns={columnsFor(data?.plans ?? [])}
          rows={data?.plans}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={{ ...t.empty, action: <Button onClick={() => go({ form: 'new' })}>{t.make}</Button> }}
          openId={search.plan}
          hasTotals
        />
      </Card>
      <p className="mt-3 text-xs text-muted">{t.totalHint}</p>
      <PlanDrawer
        plan={find(search.plan)}
        search={search}
        onGo={go}
        onClose={() => go({ plan: undefined, state: undefined, before: undefined })}
      />
      {data !== undefined && (search.form === 'new' || planInForm !== undefined) && (
        <PlanForm key={search.form} plan={planInForm} onClose={() => undoStep(() => go({ form: undefined }))} />
      )}
    </>
  );
}

function columnsFor(plans: readonly AdminPlan[]): readonly Column<AdminPlan>[] {
  return [
    { id: 'plan', header: t.columns.plan, cell: (plan) => <Name plan={plan} />, total: t.total },
    { id: 'price', header: t.columns.price, align: 'right', isWideOnly: true, cell: (plan) => <Price plan={plan} /> },
    {
      id: 'included',
      header: t.columns.included,
      align: 'right',
      minWidth: 'medium',
      cell: ({ includedUsd }) => <Money usd={includedUsd} />,
    },
    {
      id: 'allows',
      header: t.columns.allows,
      minWidth: 'large',
      className: 'max-w-64 text-xs text-muted',
      cell: (plan) => <Allowance plan={plan} />,
    },
    { id: 'subscribers', header: t.columns.subscribers, align: 'right', cell: (plan) => <Subscribers plan={plan} /> },
    {
      id: 'monthly',
      header: t.columns.monthly,
      align: 'right',
      cell: ({ monthlyUsd }) => <Money usd={monthlyUsd} />,
      total: <Money usd={sumUsd(plans.map(({ monthlyUsd }) => monthlyUsd))} />,
    },
    { id: 'state', header: t.columns.state, isWideOnly: true, cell: (plan) => <StateBadge plan={plan} /> },
  ];
}

interface PlanProps {
  readonly plan: AdminPlan;
}

function Name({ plan }: PlanProps): JSX.Element {
  return (
    <>
      <Link from="/admin/plans" to="/admin/plans" search={(old) => ({ ...old, plan: plan.id })} resetScroll={false} className="link">
        {plan.name}
      </Link>
      <span className="block text-xs wrap-anywhere text-muted">
        {plan.id}
        {plan.origin === 'settings' && ` · ${t.ofFile}`}
      </span>
      <span className="block text-xs sm:hidden">
        <Money usd={plan.priceUsd} /> {t.perInterval[plan.interval]}
      </span>
      <span className="block pt-1 sm:hidden">
        <StateBadge plan={plan} />
      </span>
    </>
  );
}

function Price({ plan: { priceUsd, interval } }: PlanProps): JSX.Element {
  return (
    <>
      <Money usd={priceUsd} />
      <span className="block text-xs text-muted">{t.perInterval[interval]}</span>
    </>
  );
}

function Allowance({ plan }: PlanProps): JSX.Element {
  return (
    <>
      <span className="block">{describeLimits(plan)}</span>
      <span className="block truncate" title={plan.models?.join(', ')}>
        {plan.models === null ? t.allModels : plan.models.join(', ')}
      </span>
    </>
  );
}

function Subscribers({ plan: { subscribers } }: PlanProps): JSX.Element {
  const { active, cancelling, past_due } = subscribers;
  return (
    <>
      <span className="figures">{formatCount(active + cancelling + past_due)}</span>
      {active + cancelling + past_due > active && (
        <span className="block text-xs text-muted">{t.counts(formatCount(active), formatCount(cancelling), formatCount(past_due))}</span>
      )}
    </>
  );
}

function StateBadge({ plan: { isEnded, isOffered } }: PlanProps): JSX.Element {
  if (isEnded) return <Badge tone="bad">{t.ended}</Badge>;
  return isOffered ? <Badge tone="good">{t.offered}</Badge> : <Badge tone="neutral">{t.restricted}</Badge>;
}

import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import type { ChangeOf } from '../../../search-params.ts';
import { api, call } from '../../../api.ts';
import { formatUsd } from '../../../money.ts';
import { adminPlans } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Breakable } from '../../../ui/breakable.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmButton } from '../../../ui/confirm-button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Drawer } from '../../../ui/drawer.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { FilterSelect, labelled } from '../../../ui/filter-select.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { refreshAdminPlans, describeLimits, subscribersQuery, type AdminPlan, type Subscriber } from './queries.ts';
import { STATES, type AdminPlansSearch } from './search.ts';

const t = adminPlans.drawer;

interface PlanDrawerProps {
  readonly plan: AdminPlan | undefined;
  readonly search: AdminPlansSearch;
  readonly onGo: (change: ChangeOf<AdminPlansSearch>) => void;
  readonly onClose: () => void;
}

/** One plan: its terms, actions on it, and its subscribers. */
export function PlanDrawer(props: PlanDrawerProps): JSX.Element {
  const { plan, onGo, onClose } = props;
  return (
    <Drawer
      isOpen={plan !== undefined}
      onClose={onClose}
      title={plan?.name ?? ''}
      text={plan !== undefined && <Copyable text={plan.id} what={t.id} />}
    >
      {plan !== undefined && (
        <div className="flex flex-col gap-6">
          <Facts facts={factsOf(plan)} />
          {(plan.origin === 'command' || plan.isEnded) && (
            <div className="flex flex-wrap gap-2">
              <Button size="sm" onClick={() => onGo({ plan: undefined, form: plan.id })}>
                {plan.isEnded ? adminPlans.again : adminPlans.change}
              </Button>
              {!plan.isEnded && (
                <ConfirmButton
                  label={adminPlans.end}
                  title={adminPlans.endTitle(plan.name)}
                  text={adminPlans.endText}
                  onConfirm={() => end(plan.id)}
                />
              )}
            </div>
          )}
          <Subscribers {...props} plan={plan} />
        </div>
      )}
    </Drawer>
  );
}

function factsOf(plan: AdminPlan): Parameters<typeof Facts>[0]['facts'] {
  return [
    [t.origin, t.origins[plan.origin]],
    [adminPlans.columns.price, `${formatUsd(plan.priceUsd)} ${adminPlans.perInterval[plan.interval]}`],
    [adminPlans.columns.included, formatUsd(plan.includedUsd)],
    [t.limits, describeLimits(plan)],
    [t.models, plan.models?.join(', ') ?? t.allModels],
    [t.useFirst, t.useFirsts[plan.useFirst]],
    [t.overflow, t.overflows[plan.overflow]],
  ];
}

/** Ends a plan and returns the message to show. */
async function end(id: string): Promise<string> {
  await call(api.admin.plans[':id'].end.$post({ param: { id } }));
  await refreshAdminPlans();
  return adminPlans.endDone;
}

const COLUMNS: readonly Column<Subscriber>[] = [
  {
    id: 'account',
    header: t.account,
    cell: ({ email, state }) => (
      <>
        <span className="wrap-anywhere">
          <Breakable text={email} />
        </span>{' '}
        <CopyButton text={email} what={t.address} />
        {state !== 'active' && (
          <span className="block">
            <Badge tone={state === 'past_due' ? 'bad' : 'warn'}>{t.states[state]}</Badge>
          </span>
        )}
      </>
    ),
  },
  { id: 'since', header: t.since, isWideOnly: true, cell: ({ sinceMs }) => <DateTime atMs={sinceMs} mayBreak /> },
  {
    id: 'renewal',
    header: t.renewal,
    cell: ({ periodEndMs, isRenewing, nextPlanId }) => (
      <>
        <DateTime atMs={periodEndMs} mayBreak />
        {!isRenewing && <span className="block text-xs text-muted">{nextPlanId === null ? t.ends : t.becomes(nextPlanId)}</span>}
      </>
    ),
  },
  { id: 'paidBy', header: t.paidBy, cell: ({ paysBy }) => t.payers[paysBy] },
];

function Subscribers({ plan, search, onGo }: PlanDrawerProps & { readonly plan: AdminPlan }): JSX.Element {
  const { data, error, refetch } = useQuery(subscribersQuery(plan.id, search));
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => onGo({ before }) });
  const clear = search.state === undefined ? undefined : () => onGo({ state: undefined, before: undefined });
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-semibold">{t.subscribers}</h3>
        <FilterSelect
          label={adminPlans.columns.state}
          all={t.anyState}
          choices={labelled(STATES, t.states)}
          value={search.state}
          onChoose={(state) => onGo({ state, before: undefined })}
        />
      </div>
      <Table
        caption={t.subscribers}
        columns={COLUMNS}
        rows={data?.subscribers}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={t.empty}
        onClearFilters={clear}
      />
      {data !== undefined && data.subscribers.length > 0 && <Pagination {...pages} />}
    </section>
  );
}

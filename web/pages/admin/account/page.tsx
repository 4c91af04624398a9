import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { isNotFound } from '../../../api.ts';
import { adminAccount as t } from '../../../strings/index.ts';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { useZoneInUrl } from '../../../zone.ts';
import { AccountStatus } from '../accounts/account-status.tsx';
import { AccountActions } from './actions.tsx';
import { AuditCard, KeysCard, PaymentsCard, StatementCard } from './lists.tsx';
import { MoneyCard } from './money-card.tsx';
import { OwnerCard } from './owner-card.tsx';
import { PlanCard } from './plan-card.tsx';
import { accountPageQuery, type AccountContent } from './queries.ts';

const route = getRouteApi('/app/admin/accounts/$id');

/** One account: balance, owner, plan, keys, statement, payments and audit log. */
export function AccountPage(): JSX.Element {
  const { id } = route.useParams();
  const { data, error, refetch } = useQuery(accountPageQuery(id, useZoneInUrl()));
  const back = <Link to="/admin/accounts">{t.back}</Link>;
  if (data === undefined)
    return (
      <>
        <PageHeader title={t.title} back={back} />
        <Card isFlush>
          {isNotFound(error) ? (
            <EmptyState {...t.empty} />
          ) : (
            <LoadingOrError error={error} onRetry={() => void refetch()} className="m-5 h-40" />
          )}
        </Card>
      </>
    );
  const { account } = data;
  return (
    <>
      <PageHeader
        title={accountLabel(account.email)}
        back={back}
        text={<AccountFacts content={data} />}
        actions={<AccountActions content={data} />}
      />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <MoneyCard content={data} />
        <div className="grid gap-6">
          <OwnerCard content={data} />
          <PlanCard content={data} />
        </div>
      </div>
      <div className="mt-6 grid gap-6">
        <KeysCard content={data} />
        <StatementCard content={data} />
        <PaymentsCard content={data} />
        <AuditCard content={data} />
      </div>
    </>
  );
}

function AccountFacts({ content: { account } }: { readonly content: AccountContent }): JSX.Element {
  return (
    <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <AccountStatus {...account} />
      <Copyable text={account.id} what={t.id} />
      {account.stripeCustomer !== null && <Copyable text={account.stripeCustomer} what={t.customer} />}
      <span>
        {t.created} <DateTime atMs={account.createdAtMs} />
      </span>
    </span>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { formatCount, formatPercent } from '../../../numbers.ts';
import { adminOverview as t } from '../../../strings/index.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { Card } from '../../../ui/card.tsx';
import { Count } from '../../../ui/count.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { LinkButton } from '../../../ui/link-button.tsx';
import { Money } from '../../../ui/money.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { accountsQuery, overviewQuery, type ServiceOverview, type Shown, type TopAccounts as Top } from './queries.ts';

interface ShownProps {
  readonly shown: Shown;
}

const ALL_REQUESTS = (
  <LinkButton to="/admin/requests" search={{}}>
    {t.allRequests}
  </LinkButton>
);

interface Figures {
  readonly chargedUsd: string;
  readonly requests: number;
}
const FIGURE_COLUMNS: readonly Column<Figures>[] = [
  { id: 'charged', header: t.charged, align: 'right', cell: ({ chargedUsd }) => <Money usd={chargedUsd} /> },
  { id: 'requests', header: t.requests, align: 'right', cell: ({ requests }) => <Count value={requests} /> },
];

/** Accounts with the highest charges, with links to their requests. */
export function TopAccounts({ shown }: ShownProps): JSX.Element {
  const { data, error, refetch } = useQuery(accountsQuery(shown));
  return (
    <Card title={t.topAccounts} isFlush>
      <Table<Top['top'][number]>
        caption={t.tableOf(t.topAccounts)}
        columns={[
          {
            id: 'account',
            header: t.account,
            className: 'w-full',
            cell: ({ id, email }) => (
              <Link to="/admin/requests" search={{ ...shown, account: id }} className="link wrap-anywhere">
                <Breakable text={accountLabel(email)} />
              </Link>
            ),
          },
          ...FIGURE_COLUMNS,
        ]}
        rows={data?.top}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...t.noRequests, action: ALL_REQUESTS }}
      />
    </Card>
  );
}

/** Models with the highest charges, with links to their requests. */
export function TopModels({ shown }: ShownProps): JSX.Element {
  const { data, error, refetch } = useQuery(overviewQuery(shown));
  return (
    <Card title={t.topModels} isFlush>
      <Table<ServiceOverview['models'][number]>
        caption={t.tableOf(t.topModels)}
        columns={[
          {
            id: 'model',
            header: t.model,
            className: 'w-full',
            cell: ({ id }) => (
              <Link to="/admin/requests" search={{ ...shown, model: id }} className="link wrap-anywhere">
                <Breakable text={id} />
              </Link>
            ),
          },
          ...FIGURE_COLUMNS,
        ]}
        rows={data?.models}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...t.noRequests, action: ALL_REQUESTS }}
      />
    </Card>
  );
}

type Provider = ServiceOverview['providers'][number];

/** Calls to each provider and their outcomes. */
export function Providers({ shown }: ShownProps): JSX.Element {
  const { data, error, refetch } = useQuery(overviewQuery(shown));
  return (
    <Card className="mt-6" title={t.providers} hint={t.providersHint} isFlush>
      <Table<Provider>
        caption={t.tableOf(t.providers)}
        columns={[
          {
            id: 'provider',
            header: t.provider,
            cell: (provider) => (
              <>
                <Link to="/admin/requests" search={{ ...shown, provider: provider.name }} className="link max-sm:wrap-anywhere">
                  {provider.name}
                </Link>
                <span className="block sm:hidden">
                  <Outcomes provider={provider} />
                </span>
              </>
            ),
          },
          { id: 'asked', header: t.asked, align: 'right', cell: ({ asked }) => <Count value={asked} /> },
          { id: 'failed', header: t.failures, align: 'right', cell: ({ failed }) => <Count value={failed} /> },
          {
            id: 'share',
            header: t.share,
            align: 'right',
            cell: ({ asked, failed }) => <span className="figures">{formatPercent(failed / asked)}</span>,
          },
          {
            id: 'outcomes',
            header: t.outcomes,
            isWideOnly: true,
            className: 'w-full',
            cell: (provider) => <Outcomes provider={provider} />,
          },
        ]}
        rows={data?.providers}
        rowId={({ name }) => name}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...t.noProviders, action: ALL_REQUESTS }}
      />
      {data !== undefined && (data.attempts.isCut || data.attempts.sinceMs !== null) && (
        <p className="border-t border-line px-4 py-3 text-xs text-muted sm:px-5">
          {data.attempts.isCut && `${t.cutAttempts} `}
          {data.attempts.sinceMs !== null && (
            <>
              {t.attemptsSince} <DateTime atMs={data.attempts.sinceMs} />.
            </>
          )}
        </p>
      )}
    </Card>
  );
}

function Outcomes({ provider: { outcomes, brokenOff } }: { readonly provider: Provider }): JSX.Element {
  const all = [...outcomes, ...(brokenOff > 0 ? [{ outcome: t.brokenOff, count: brokenOff }] : [])];
  if (all.length === 0) return <span className="text-muted">{t.none}</span>;
  return (
    <span className="flex flex-wrap gap-x-3 text-xs">
      {all.map(({ outcome, count }) => (
        <span key={outcome}>
          <code className="font-mono wrap-anywhere">
            <Breakable text={outcome} />
          </code>{' '}
          <span className="figures">{formatCount(count)}</span>
        </span>
      ))}
    </span>
  );
}

import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../../back-button.ts';
import { formatCount, formatMs, formatPercent } from '../../../numbers.ts';
import { adminProviders as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Breakable, BreakableHost } from '../../../ui/breakable.tsx';
import { Card } from '../../../ui/card.tsx';
import { RelativeTime } from '../../../ui/date-time.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { ProviderDrawer } from './drawer.tsx';
import { providersQuery, type KnownProvider, type ShownProvider } from './queries.ts';

const route = getRouteApi('/app/admin/providers');
const head = t.columns;

const COLUMNS: readonly Column<ShownProvider>[] = [
  { id: 'provider', header: head.provider, cell: (provider) => <Name provider={provider} /> },
  {
    id: 'credential',
    header: head.credential,
    minWidth: 'large',
    cell: ({ credential }) => <span className="text-xs wrap-anywhere text-muted">{credential ?? t.noCredential}</span>,
  },
  { id: 'models', header: head.models, align: 'right', isWideOnly: true, cell: ({ models }) => formatCount(models.length) },
  { id: 'hour', header: head.hour, align: 'right', cell: ({ hour }) => <Success record={hour} /> },
  { id: 'day', header: head.day, align: 'right', cell: ({ day }) => <Success record={day} /> },
  {
    id: 'firstToken',
    header: head.firstToken,
    align: 'right',
    minWidth: 'medium',
    cell: ({ day }) => <P50AndP95 times={day?.firstToken ?? null} />,
  },
  {
    id: 'duration',
    header: head.duration,
    align: 'right',
    minWidth: 'large',
    cell: ({ day }) => <P50AndP95 times={day?.duration ?? null} />,
  },
  { id: 'failure', header: head.failure, isWideOnly: true, cell: (provider) => <Failure provider={provider} /> },
];

const KNOWN_COLUMNS: readonly Column<KnownProvider>[] = [
  {
    id: 'provider',
    header: head.provider,
    cell: ({ id, name }) => (
      <>
        <span className="block">{name}</span>
        <span className="block text-xs text-muted">{id}</span>
      </>
    ),
  },
  {
    id: 'variables',
    header: t.variables,
    cell: ({ variables, missing }) => (
      <>
        <code className="font-mono text-xs wrap-anywhere">
          <Breakable text={variables.join(' ')} />
        </code>
        {missing.length > 0 && <span className="block text-xs wrap-anywhere text-warn">{t.missing(missing)}</span>}
      </>
    ),
  },
];

/** Configured providers with their health, and others that could be enabled. */
export function AdminProvidersPage(): JSX.Element {
  const { id } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(providersQuery);
  const open = (next: string | undefined): void =>
    void navigate({ search: next === undefined ? {} : { id: next }, replace: isMinorStep(), resetScroll: false });
  const common = { error, onRetry: () => void refetch() };
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Card isFlush>
        <Table
          caption={t.title}
          columns={COLUMNS}
          rows={data?.configured}
          rowId={(provider) => provider.id}
          empty={t.empty}
          onOpen={(provider) => open(provider.id)}
          openId={id}
          {...common}
        />
      </Card>
      <p className="mt-3 text-xs text-muted">
        {t.successHint} <span className="max-md:hidden">{t.p50p95}</span>
      </p>
      <Card title={t.known} hint={t.knownHint} isFlush className="mt-6">
        <Table
          caption={t.knownCaption}
          columns={KNOWN_COLUMNS}
          rows={data?.known}
          rowId={(provider) => provider.id}
          empty={{ title: t.everyKnown }}
          {...common}
        />
      </Card>
      <ProviderDrawer providers={data?.configured} id={id} onClose={() => open(undefined)} />
    </>
  );
}

function Name({ provider }: { readonly provider: ShownProvider }): JSX.Element {
  return (
    <>
      <Link
        from="/admin/providers"
        to="/admin/providers"
        search={{ id: provider.id }}
        onClick={(event) => event.stopPropagation()}
        className="font-medium hover:underline"
      >
        {provider.id}
      </Link>
      <span className="block text-xs break-words text-muted">{provider.host !== null && <BreakableHost text={provider.host} />}</span>
      {provider.disabled !== null && <Badge tone="warn">{t.disabled}</Badge>}
    </>
  );
}

function Success({ record }: { readonly record: ShownProvider['day'] }): JSX.Element {
  if (record === null) return <NoData />;
  const failed = record.failures.reduce((sum, { count }) => sum + count, 0);
  return <span className="figures whitespace-nowrap">{t.fine(formatPercent(1 - failed / record.calls), formatCount(record.calls))}</span>;
}

function P50AndP95({ times }: { readonly times: NonNullable<ShownProvider['day']>['duration'] }): JSX.Element {
  if (times === null) return <NoData />;
  return (
    <span className="figures whitespace-nowrap">
      {formatMs(times.p50Ms)} <span className="text-muted">/ {formatMs(times.p95Ms)}</span>
    </span>
  );
}

function Failure({ provider: { lastFailure } }: { readonly provider: ShownProvider }): JSX.Element {
  if (lastFailure === null) return <span className="text-xs text-muted">{t.none}</span>;
  return (
    <span className="text-xs">
      <code className="block font-mono">{lastFailure.kind}</code>
      <RelativeTime atMs={lastFailure.atMs} />
    </span>
  );
}

function NoData(): JSX.Element {
  return <span className="text-xs text-muted">{t.noData}</span>;
}

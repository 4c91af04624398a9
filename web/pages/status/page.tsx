import { queryOptions, useQuery } from '@tanstack/react-query';
import type { JSX, ReactNode } from 'react';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { formatCount, formatMs, formatPercent } from '../../numbers.ts';
import { status as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat } from '../../ui/stat.tsx';
import { Readiness } from './readiness.tsx';
import { stateOf, TONES } from './state.ts';
import { Strip } from './strip.tsx';

type Status = ResponseBody<typeof api.status.$get>;

const statusQuery = queryOptions({ queryKey: ['status'], queryFn: () => call(api.status.$get()), refetchInterval: 60_000 });

/** Status of the gate and its providers, measured from real traffic. */
export function StatusPage(): JSX.Element {
  const { data: status, error, refetch } = useQuery(statusQuery);
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {error !== null && status === undefined ? (
        <Card>
          <ErrorState error={error} onRetry={() => void refetch()} />
        </Card>
      ) : (
        <div className="flex flex-col gap-6">
          <Card>
            <Readiness />
            <Figures gate={status?.gate} />
          </Card>
          <Card title={t.providers} hint={t.providersHint} isFlush>
            {status === undefined ? <ProvidersSkeleton /> : <Providers status={status} />}
          </Card>
        </div>
      )}
    </>
  );
}

function Figures({ gate }: { readonly gate: Status['gate'] | undefined }): JSX.Element {
  const show = (value: (measured: NonNullable<Status['gate']>) => string | null): ReactNode => {
    if (gate === undefined) return undefined;
    return gate === null ? null : value(gate);
  };
  return (
    <div className="mt-5 grid grid-cols-2 gap-5 border-t border-line pt-5 sm:grid-cols-4">
      <Stat label={t.success} value={show(({ successPart }) => formatPercent(successPart))} hint={t.successHint} />
      <Stat label={t.p50} value={show(({ firstTokenP50Ms: ms }) => (ms === null ? null : formatMs(ms)))} />
      <Stat label={t.p95} value={show(({ firstTokenP95Ms: ms }) => (ms === null ? null : formatMs(ms)))} />
      <Stat label={t.requests} value={show(({ requests }) => formatCount(requests))} />
    </div>
  );
}

function Providers({ status }: { readonly status: Status }): JSX.Element {
  if (status.providers.length === 0) return <EmptyState {...t.empty} />;
  return (
    <ul className="divide-y divide-line">
      {status.providers.map((provider) => (
        <li key={provider.id} className="grid gap-x-6 gap-y-2 px-4 py-4 sm:px-5 md:grid-cols-[11rem_minmax(0,1fr)_17rem] md:items-center">
          <div className="flex items-center gap-3 md:block">
            <p className="font-medium">{provider.id}</p>
            <p className="text-xs text-muted">{t.models(provider.models)}</p>
          </div>
          <Strip provider={provider} span={status} />
          <ProviderHealth measured={provider.measured} />
        </li>
      ))}
    </ul>
  );
}

function ProviderHealth({ measured }: { readonly measured: Status['gate'] }): JSX.Element {
  const state = stateOf(measured);
  return (
    <div className="flex items-center justify-between gap-3 text-xs text-muted">
      {measured !== null && (
        <span>
          <span className="block">{t.measured(formatPercent(measured.successPart), formatCount(measured.requests))}</span>
          {measured.firstTokenP50Ms !== null && <span className="block">{t.firstToken(formatMs(measured.firstTokenP50Ms))}</span>}
        </span>
      )}
      <Badge tone={TONES[state]}>{t.states[state]}</Badge>
    </div>
  );
}

function ProvidersSkeleton(): JSX.Element {
  return (
    <div className="flex flex-col gap-6 p-5">
      <Skeleton className="h-8" />
      <Skeleton className="h-8" />
      <Skeleton className="h-8" />
    </div>
  );
}

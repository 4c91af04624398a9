import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../../back-button.ts';
import { adminOverview as t, kit } from '../../../strings/index.ts';
import { formatSpan } from '../../../time.ts';
import { Card } from '../../../ui/card.tsx';
import { ErrorState } from '../../../ui/error-state.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { useZoneInUrl } from '../../../zone.ts';
import { BooksCard } from './books-card.tsx';
import { ChargesCard } from './charges-card.tsx';
import { Figures } from './figures.tsx';
import { LedgerAlarm, LedgerCard } from './ledger-card.tsx';
import { overviewQuery } from './queries.ts';
import { RANGES } from './search.ts';
import { Providers, TopAccounts, TopModels } from './tables.tsx';

const route = getRouteApi('/app/admin/');

/** Overview of the whole service. */
export function AdminOverviewPage(): JSX.Element {
  const { range = '7d' } = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const shown = { range, zone };
  const { data: overview, error, refetch } = useQuery(overviewQuery(shown));
  return (
    <>
      <PageHeader
        title={t.title}
        text={t.text}
        actions={
          <Segmented
            label={t.range}
            value={range}
            choices={RANGES.map((value) => ({ value, label: kit.ranges[value] }))}
            onChoose={(next) => void navigate({ search: { zone, range: next }, replace: isMinorStep() })}
          />
        }
      />
      <LedgerAlarm />
      <Card title={t.figures} hint={overview && formatSpan(overview.span, zone)}>
        {error === null || overview !== undefined ? (
          <Figures overview={overview} shown={shown} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )}
      </Card>
      <ChargesCard shown={shown} />
      <div className="mt-6 grid gap-6 lg:grid-cols-2">
        <TopAccounts shown={shown} />
        <TopModels shown={shown} />
      </div>
      <Providers shown={shown} />
      <BooksCard />
      <LedgerCard />
    </>
  );
}

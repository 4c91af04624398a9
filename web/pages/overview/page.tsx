import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../back-button.ts';
import { overview as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { StaleNote } from '../../ui/stale-note.tsx';
import { useZoneInUrl } from '../../zone.ts';
import { Banners } from './banners.tsx';
import { Figures } from './figures.tsx';
import { overviewQuery, topQuery } from './queries.ts';
import { SpendCard } from './spend-card.tsx';
import { LatestErrors, TopKeys, TopModels } from './tables.tsx';

const route = getRouteApi('/app/overview');

/** Overview: the balance, how long it lasts, what it is spent on, and recent errors. */
export function OverviewPage(): JSX.Element {
  const { by = 'model' } = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const { data: overview, error, refetch } = useQuery(overviewQuery(zone));
  const { data: top } = useQuery(topQuery(zone));
  return (
    <>
      <PageHeader
        title={t.title}
        text={t.text}
        actions={
          <LinkButton to="/usage" search={{}}>
            {t.explore}
          </LinkButton>
        }
      />
      {overview !== undefined && <Banners overview={overview} />}
      {/* With banners above it, the card is elsewhere: the placeholder ends rather than jumps. */}
      <Card key={overview === undefined ? 'placeholder' : 'figures'}>
        {error !== null && overview !== undefined && <StaleNote error={error} onRetry={() => void refetch()} isBoxed />}
        {error === null || overview !== undefined ? (
          <Figures overview={overview} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )}
      </Card>
      <SpendCard
        by={by}
        zone={zone}
        onGroup={(group) =>
          void navigate({ search: { zone, ...(group !== 'model' && { by: group }) }, replace: isMinorStep(), resetScroll: false })
        }
      />
      {/* Without usage, the card above already shows the next step. */}
      {top?.keys.length !== 0 && (
        <div className="mt-6 grid gap-6 lg:grid-cols-2">
          <TopKeys zone={zone} />
          <TopModels zone={zone} />
        </div>
      )}
      <LatestErrors zone={zone} />
    </>
  );
}

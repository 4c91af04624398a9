import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useNames } from '../../names.ts';
import { compact, type ChangeOf } from '../../search-params.ts';
import { usage as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { Card } from '../../ui/card.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useZoneInUrl } from '../../zone.ts';
import { FormerChart, UsageChart } from './chart.tsx';
import { RequestsLink, UsageControls } from './controls.tsx';
import { ExportMenu } from './export-menu.tsx';
import { askedBy, groupsLabel, reportQuery } from './report.ts';
import { SavedViews } from './saved-views.tsx';
import { FILTERS, type UsageSearch } from './search.ts';
import { UsageTable } from './table.tsx';

const route = getRouteApi('/app/usage');

/** What was used, added up in any way, with the requests behind it one step away. */
export function UsagePage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const names = useNames();
  const asked = askedBy(search, zone, Date.now());
  const { data: report, error, refetch } = useQuery(reportQuery(asked));
  const change = (changed: ChangeOf<UsageSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, ...changed }), replace: true, resetScroll: false });
  const isFiltered = FILTERS.some((name) => search[name] !== undefined);
  const clear = isFiltered ? (): void => change(Object.fromEntries(FILTERS.map((name) => [name, undefined]))) : undefined;
  return (
    <>
      <PageHeader
        title={t.title}
        text={t.text}
        actions={
          <>
            <SavedViews onOpen={(view) => void navigate({ search: view })} />
            <ExportMenu asked={asked} />
          </>
        }
      />
      <UsageControls search={search} asked={asked} names={names} onChange={change} onClear={clear} />
      {/* Where there is none, the table below tells why. */}
      {(report !== undefined || error === null) && (
        <Card
          className="mb-6"
          title={t.chartLabel(t.metrics[asked.metric], groupsLabel(asked))}
          hint={formatSpan(asked.span, zone)}
          actions={<RequestsLink search={search} />}
        >
          {report === undefined ? (
            <Skeleton className="h-72" />
          ) : (
            <>
              <UsageChart report={report} asked={asked} names={names} />
              <FormerChart report={report} asked={asked} />
            </>
          )}
        </Card>
      )}
      <Card isFlush>
        <UsageTable
          report={report}
          error={error}
          onRetry={() => void refetch()}
          asked={asked}
          search={search}
          names={names}
          onClearFilters={clear}
        />
      </Card>
      <p className="mt-2 text-xs text-muted">
        {t.reasoningHint} {report?.isOverlapping === true && t.overlapHint} {asked.isUntimed && t.statusHint}
      </p>
    </>
  );
}

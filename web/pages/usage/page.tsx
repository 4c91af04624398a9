import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../back-button.ts';
import { useNames } from '../../names.ts';
import { compact, type ChangeOf } from '../../search-params.ts';
import { usage as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { Card } from '../../ui/card.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useZoneInUrl } from '../../zone.ts';
import { PreviousPeriodChart, UsageChart } from './chart.tsx';
import { RequestsLink, UsageControls } from './controls.tsx';
import { ExportMenu } from './export-menu.tsx';
import { reportSpecOf, groupsLabel, reportQuery } from './report.ts';
import { SavedViews } from './saved-views.tsx';
import { FILTERS, type UsageSearch } from './search.ts';
import { UsageTable } from './table.tsx';

const route = getRouteApi('/app/usage');

/** Usage report with any grouping, and links to the requests behind it. */
export function UsagePage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const names = useNames();
  const spec = reportSpecOf(search, zone, Date.now());
  const { data: report, error, refetch } = useQuery(reportQuery(spec));
  const change = (changed: ChangeOf<UsageSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, ...changed }), replace: isMinorStep(), resetScroll: false });
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
            <ExportMenu spec={spec} />
          </>
        }
      />
      <UsageControls search={search} spec={spec} names={names} onChange={change} onClear={clear} />
      {/* If there is no report, the table below shows the error. */}
      {(report !== undefined || error === null) && (
        <Card
          className="mb-6"
          title={t.chartLabel(t.metrics[spec.metric], groupsLabel(spec))}
          hint={formatSpan(spec.span, zone)}
          actions={<RequestsLink search={search} />}
        >
          {report === undefined ? (
            <Skeleton className="h-72" />
          ) : (
            <>
              <UsageChart report={report} spec={spec} names={names} />
              <PreviousPeriodChart report={report} spec={spec} />
            </>
          )}
        </Card>
      )}
      <Card isFlush>
        <UsageTable
          report={report}
          error={error}
          onRetry={() => void refetch()}
          spec={spec}
          search={search}
          names={names}
          onClearFilters={clear}
        />
      </Card>
      <p className="mt-2 text-xs text-muted">
        {t.reasoningHint} {t.timesHint} {report?.isOverlapping === true && t.overlapHint} {spec.isUntimed && t.statusHint}
      </p>
    </>
  );
}

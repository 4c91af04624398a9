import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { adminOverview as t } from '../../../strings/index.ts';
import { formatSpan } from '../../../time.ts';
import { BarChart } from '../../../ui/bar-chart.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { bucketLabels } from '../../usage/bucket-label.ts';
import { formatNumber } from '../../usage/report.ts';
import { overviewQuery, type ServiceOverview, type Shown } from './queries.ts';

/** Charges per hour or day, by model. */
export function ChargesCard({ shown }: { readonly shown: Shown }): JSX.Element {
  const { data: overview, error, refetch } = useQuery(overviewQuery(shown));
  return (
    <Card className="mt-6" title={t.charges} hint={overview && formatSpan(overview.span, shown.zone)}>
      {overview === undefined ? (
        <LoadingOrError error={error} onRetry={() => void refetch()} className="h-60" />
      ) : (
        <Chart overview={overview} zone={shown.zone} />
      )}
    </Card>
  );
}

function Chart({ overview: { bucket, charges }, zone }: { readonly overview: ServiceOverview; readonly zone: string }): JSX.Element {
  if (charges.series.length === 0) return <EmptyState {...t.nothing} />;
  const { short, long } = bucketLabels(bucket, { zone, buckets: charges.buckets });
  const buckets = charges.buckets.map((atMs, at) => ({
    label: short(atMs),
    title: long(atMs),
    values: Object.fromEntries(charges.series.map(({ values }, index) => [String(index), Number(values[at] ?? 0)])),
  }));
  return (
    <BarChart
      label={t.charges}
      buckets={buckets}
      series={charges.series.map(({ name, count }, index) => ({ id: String(index), label: name ?? t.other(count) }))}
      format={(value) => formatNumber('spend', value)}
    />
  );
}

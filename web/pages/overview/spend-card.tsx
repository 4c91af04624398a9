import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { keyLabel, useNames, type Names } from '../../names.ts';
import { overview as t } from '../../strings/index.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { bucketLabels } from '../usage/bucket-label.ts';
import { formatNumber } from '../usage/report.ts';
import { spendQuery, type Spend } from './queries.ts';
import { BYS, type By } from './search.ts';

interface SpendCardProps {
  readonly by: By;
  readonly zone: string;
  readonly onBy: (by: By) => void;
}

/** What was spent on each of the last days, and on what. */
export function SpendCard({ by, zone, onBy }: SpendCardProps): JSX.Element {
  const { data: spend, error, refetch } = useQuery(spendQuery(zone, by));
  const hintOnItsWay = error === null ? <Skeleton className="my-px w-40" /> : undefined;
  return (
    <Card
      className="mt-6"
      title={t.spend}
      hint={spend === undefined ? hintOnItsWay : t.spendHint(spend.days, zone)}
      actions={<Segmented label={t.by} value={by} choices={BYS.map((value) => ({ value, label: t.bys[value] }))} onChoose={onBy} />}
    >
      {spend === undefined ? (
        <LoadingOrError error={error} onRetry={() => void refetch()} className="h-62" />
      ) : (
        <SpendChart spend={spend} by={by} zone={zone} />
      )}
    </Card>
  );
}

function SpendChart({ spend, by, zone }: { readonly spend: Spend; readonly by: By; readonly zone: string }): JSX.Element {
  const names = useNames();
  if (spend.series.length === 0)
    return (
      <EmptyState
        {...t.noUsage}
        action={
          <LinkButton to="/start" variant="primary">
            {t.start}
          </LinkButton>
        }
      />
    );
  const { short, long } = bucketLabels('day', { zone, buckets: spend.buckets });
  const buckets = spend.buckets.map((atMs, at) => ({
    label: short(atMs),
    title: long(atMs),
    values: Object.fromEntries(spend.series.map(({ values }, index) => [String(index), Number(values[at] ?? 0)])),
  }));
  return (
    <BarChart
      label={t.spend}
      buckets={buckets}
      series={spend.series.map((series, index) => ({ id: String(index), label: labelOf(series, by, names) }))}
      format={(value) => formatNumber('spend', value)}
    />
  );
}

function labelOf({ names: ofSeries, count }: Spend['series'][number], by: By, names: Names): string {
  const [name = ''] = ofSeries ?? [];
  if (ofSeries === null) return t.other(count);
  if (by === 'key') return keyLabel(name, names);
  return name === '' ? t.noProvider : name;
}

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
import { StaleNote } from '../../ui/stale-note.tsx';
import { bucketLabels } from '../usage/bucket-label.ts';
import { formatNumber } from '../usage/report.ts';
import { spendQuery, type Spend } from './queries.ts';
import { SPEND_GROUPS, type SpendGroup } from './search.ts';

interface SpendCardProps {
  readonly by: SpendGroup;
  readonly zone: string;
  readonly onGroup: (by: SpendGroup) => void;
}

/** Daily spend of the last days, by model, key or provider. */
export function SpendCard({ by, zone, onGroup }: SpendCardProps): JSX.Element {
  const { data: spend, error, refetch } = useQuery(spendQuery(zone, by));
  const hintPlaceholder = error === null ? <Skeleton className="my-px w-40" /> : undefined;
  return (
    <Card
      className="mt-6"
      title={t.spend}
      hint={spend === undefined ? hintPlaceholder : t.spendHint(spend.days, zone)}
      actions={
        <Segmented label={t.by} value={by} choices={SPEND_GROUPS.map((value) => ({ value, label: t.bys[value] }))} onChoose={onGroup} />
      }
    >
      {spend === undefined ? (
        <LoadingOrError error={error} onRetry={() => void refetch()} className="h-62" />
      ) : (
        <>
          {error !== null && <StaleNote error={error} onRetry={() => void refetch()} isBoxed />}
          <SpendChart spend={spend} by={by} zone={zone} />
        </>
      )}
    </Card>
  );
}

function SpendChart({ spend, by, zone }: { readonly spend: Spend; readonly by: SpendGroup; readonly zone: string }): JSX.Element {
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

function labelOf({ names: seriesNames, count }: Spend['series'][number], by: SpendGroup, names: Names): string {
  const [name = ''] = seriesNames ?? [];
  if (seriesNames === null) return t.other(count);
  if (by === 'key') return keyLabel(name, names);
  return name === '' ? t.noProvider : name;
}

import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { formatUsd } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { plural } from '../../strings/plural.ts';
import { key as t } from '../../strings/index.ts';
import { formatDate } from '../../time.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { Card } from '../../ui/card.tsx';
import type { ChartBucket } from '../../ui/chart.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { useZone } from '../../zone.ts';
import type { KeyPageContent } from '../keys/queries.ts';

/** The chart needs numbers; the smallest amount is a nano-dollar. */
const DECIMALS = 9;

/** Daily spend of the key over the last thirty days. */
export function KeyUsage({ content: { key, days } }: { readonly content: KeyPageContent }): JSX.Element {
  const zone = useZone();
  const actions = (
    <span className="flex flex-wrap gap-x-4">
      <Link to="/usage" search={{ key: key.id }} className="link text-sm">
        {t.usage.explore}
      </Link>
      <Link to="/requests" search={{ key: key.id }} className="link text-sm">
        {t.usage.requests}
      </Link>
    </span>
  );
  return (
    <Card title={t.usage.title} hint={t.usage.hint(zone)} actions={actions} className="lg:col-span-2">
      {days.every(({ requests }) => requests === 0) ? (
        <EmptyState {...t.usage.none} />
      ) : (
        <BarChart
          label={t.usage.chart}
          buckets={bucketsOf(days, zone)}
          series={[{ id: 'cost', label: t.usage.series }]}
          format={(value) => formatUsd(value.toFixed(DECIMALS))}
        />
      )}
    </Card>
  );
}

function bucketsOf(days: KeyPageContent['days'], zone: string): ChartBucket[] {
  return days.map(({ dayStartMs, requests, costUsd }) => {
    const date = formatDate(dayStartMs, zone);
    return {
      label: date.replace(/ \d{4}$/u, ''),
      title: `${date}, ${plural(formatCount(requests), 'request')}`,
      values: { cost: Number(costUsd) },
    };
  });
}

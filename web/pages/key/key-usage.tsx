import type { JSX } from 'react';
import { formatUsd } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { key as t } from '../../strings/index.ts';
import { formatDate } from '../../time.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { Card } from '../../ui/card.tsx';
import type { ChartBucket } from '../../ui/chart.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import type { KeyPageContent } from '../keys/queries.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
/** Amounts are drawn as numbers; a nano-dollar is the smallest there is. */
const DECIMALS = 9;

/** What the key spent on each of the last thirty days. */
export function KeyUsage({ content: { key, days } }: { readonly content: KeyPageContent }): JSX.Element {
  const actions = (
    <>
      <LinkButton to="/usage" search={{ key: key.id }} size="sm" variant="quiet">
        {t.usage.explore}
      </LinkButton>
      <LinkButton to="/requests" search={{ key: key.id }} size="sm" variant="quiet">
        {t.usage.requests}
      </LinkButton>
    </>
  );
  return (
    <Card title={t.usage.title} hint={t.usage.hint} actions={actions} className="lg:col-span-2">
      {days.length === 0 ? (
        <EmptyState {...t.usage.none} />
      ) : (
        <BarChart
          label={t.usage.chart}
          buckets={bucketsOf(days)}
          series={[{ id: 'cost', label: t.usage.series }]}
          format={(value) => formatUsd(value.toFixed(DECIMALS))}
        />
      )}
    </Card>
  );
}

/** Every day has its place, also those on which nothing happened. */
function bucketsOf(days: KeyPageContent['days']): ChartBucket[] {
  const todayMs = Date.now() - (Date.now() % DAY_MS);
  return Array.from({ length: DAYS }, (_, index) => {
    const startMs = todayMs - (DAYS - 1 - index) * DAY_MS;
    const day = days.find(({ dayStartMs }) => dayStartMs === startMs);
    const date = formatDate(startMs, 'UTC');
    return {
      label: date.replace(/ \d{4}$/u, ''),
      title: `${date}, ${formatCount(day?.requests ?? 0)} requests`,
      values: { cost: Number(day?.costUsd ?? 0) },
    };
  });
}

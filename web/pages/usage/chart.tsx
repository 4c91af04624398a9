import type { JSX } from 'react';
import { isMean } from '../../../src/dashboard/contract.ts';
import type { Names } from '../../names.ts';
import { usage as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import type { ChartBucket } from '../../ui/chart.ts';
import { LineChart } from '../../ui/line-chart.tsx';
import { bucketLabels } from './bucket-label.ts';
import { formatNumber, groupsLabel, seriesLabel, type Asked, type Report } from './report.ts';

interface UsageChartProps {
  readonly report: Report;
  readonly asked: Asked;
  readonly names: Names;
}

/** What was asked for over time: bars where values add up, lines where they do not. */
export function UsageChart({ report, asked, names }: UsageChartProps): JSX.Element {
  const { metric, isCumulative } = asked;
  const series = report.series.map((one, index) => ({ id: String(index), label: seriesLabel(one, asked, names) }));
  const buckets = toBuckets(report, asked, (at) =>
    Object.fromEntries(report.series.flatMap(({ values }, index) => toEntry(String(index), values[at]))),
  );
  const props = {
    label: t.chartLabel(t.metrics[metric], groupsLabel(asked)),
    buckets,
    series,
    format: (value: number) => formatNumber(metric, value),
    heightPx: 260,
  };
  const addsUp = !isMean(metric) && !isCumulative && !report.isOverlapping;
  return addsUp ? <BarChart {...props} /> : <LineChart {...props} />;
}

/** The same time before, bucket by bucket beside this one. */
export function FormerChart({ report, asked }: Omit<UsageChartProps, 'names'>): JSX.Element | null {
  const { former } = report;
  const { metric, zone } = asked;
  if (former === null) return null;
  const buckets = toBuckets(report, asked, (at) =>
    Object.fromEntries([...toEntry('now', report.values[at]), ...toEntry('former', former.values[at])]),
  );
  return (
    <div className="mt-6 border-t border-line pt-4">
      <h3 className="mb-3 text-sm font-semibold">{t.comparedWith(formatSpan(former, zone))}</h3>
      <LineChart
        label={t.comparedWith(formatSpan(former, zone))}
        buckets={buckets}
        series={[
          { id: 'now', label: t.thisPeriod },
          { id: 'former', label: t.formerPeriod },
        ]}
        format={(value) => formatNumber(metric, value)}
        heightPx={160}
      />
    </div>
  );
}

function toBuckets(report: Report, { bucket, zone }: Asked, valuesAt: (at: number) => Record<string, number>): ChartBucket[] {
  const { short, long } = bucketLabels(bucket, { zone, buckets: report.buckets });
  return report.buckets.map((atMs, at) => ({ label: short(atMs), title: long(atMs), values: valuesAt(at) }));
}

/** A mean of nothing is no point of a line. */
function toEntry(id: string, value: string | number | null | undefined): [string, number][] {
  return value === null || value === undefined ? [] : [[id, Number(value)]];
}

import type { JSX } from 'react';
import { isMean } from '../../../src/dashboard/contract.ts';
import type { Names } from '../../names.ts';
import { usage as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import type { ChartBucket } from '../../ui/chart.ts';
import { LineChart } from '../../ui/line-chart.tsx';
import { bucketLabels } from './bucket-label.ts';
import { formatNumber, groupsLabel, seriesLabel, type ReportSpec, type Report } from './report.ts';

interface UsageChartProps {
  readonly report: Report;
  readonly spec: ReportSpec;
  readonly names: Names;
}

/** The report over time: bars if the values add up, lines otherwise. */
export function UsageChart({ report, spec, names }: UsageChartProps): JSX.Element {
  const { metric, isCumulative } = spec;
  const isByStatus = spec.groups[0] === 'status' && spec.groups[1] === undefined;
  const series = report.series.map((one, index) => ({
    id: String(index),
    label: seriesLabel(one, spec, names),
    isFailure: isByStatus && one.names?.[0] === 'error',
  }));
  const buckets = toBuckets(report, spec, (at) =>
    Object.fromEntries(report.series.flatMap(({ values }, index) => toEntry(String(index), values[at]))),
  );
  const props = {
    label: t.chartLabel(t.metrics[metric], groupsLabel(spec)),
    buckets,
    series,
    format: (value: number) => formatNumber(metric, value),
    heightPx: 260,
  };
  const addsUp = !isMean(metric) && !isCumulative && !report.isOverlapping;
  return addsUp ? <BarChart {...props} /> : <LineChart {...props} />;
}

/** Compares the period with the previous one, bucket by bucket. */
export function PreviousPeriodChart({ report, spec }: Omit<UsageChartProps, 'names'>): JSX.Element | null {
  const { former } = report;
  const { metric, zone } = spec;
  if (former === null) return null;
  const buckets = toBuckets(report, spec, (at) =>
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

function toBuckets(report: Report, { bucket, zone }: ReportSpec, valuesAt: (at: number) => Record<string, number>): ChartBucket[] {
  const { short, long } = bucketLabels(bucket, { zone, buckets: report.buckets });
  return report.buckets.map((atMs, at) => ({ label: short(atMs), title: long(atMs), values: valuesAt(at) }));
}

/** A bucket without a mean gets no point on the line. */
function toEntry(id: string, value: string | number | null | undefined): [string, number][] {
  return value === null || value === undefined ? [] : [[id, Number(value)]];
}

import type { Cell } from './csv.ts';
import { isMean, METRICS, valueOf, type Metric } from './metrics.ts';
import { addAll, type Group, type Report, type Series } from './report.ts';
import { addSums, NO_SUMS, type Sums } from './sums.ts';
import { zoneWriter, type Bucket } from './zone.ts';

/** How a report is looked at. */
export interface ReportView {
  readonly zone: string;
  readonly bucket: Bucket;
  readonly group: Group;
  readonly metric: Metric;
  /** Each value is that of its bucket and of all before it. Means stay as they are. */
  readonly isCumulative: boolean;
}

/** A table for a file. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

interface NamedView extends ReportView {
  /** The names of keys, by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

/** What the chart shows: a row for every bucket and series, with the former period where it is compared. */
export function chartTable(report: Report, view: NamedView): Table {
  const write = zoneWriter(view.zone);
  const { metric, zone, group } = view;
  const columns = ['bucket_start', 'zone', group, ...(group === 'key' ? ['key_name'] : []), unitOf(metric)];
  const rows = report.series.flatMap((series) => {
    const values = valuesOf(series.values, view);
    return report.buckets.map(({ fromMs }, index): Cell[] => [write(fromMs), zone, ...nameCells(series, view), values[index]]);
  });
  if (report.former === undefined) return { columns, rows };
  const former = valuesOf(report.former.values, view);
  const totals = valuesOf(totalsOf(report), view);
  const blank = group === 'key' ? [''] : [];
  const compared = report.buckets.map(({ fromMs }, index): Cell[] => [write(fromMs), zone, 'all', ...blank, totals[index], former[index]]);
  return { columns: [...columns, `former_${unitOf(metric)}`], rows: [...rows.map((row) => [...row, null]), ...compared] };
}

/** What the table under the chart shows: a row for every series, and their total. */
export function groupTable(report: Report, view: NamedView): Table {
  const write = zoneWriter(view.zone);
  const [first, last] = [report.buckets.at(0), report.buckets.at(-1)];
  const range = [write(first?.fromMs ?? 0), write(last?.toMs ?? 0), view.zone];
  return {
    columns: ['from', 'to', 'zone', view.group, ...(view.group === 'key' ? ['key_name'] : []), ...METRICS.map(unitOf)],
    rows: [
      ...report.series.map((series) => [...range, ...nameCells(series, view), ...sumCells(series.total)]),
      [...range, 'total', ...(view.group === 'key' ? [''] : []), ...sumCells(report.total)],
    ],
  };
}

function sumCells(sums: Sums): Cell[] {
  return METRICS.map((metric) => valueOf(metric, sums));
}

function nameCells({ name, count }: Series, { group, names }: NamedView): Cell[] {
  const shown = name ?? `other (${count})`;
  return group === 'key' ? [shown, name === undefined ? '' : (names.get(name) ?? '')] : [shown];
}

function totalsOf({ buckets, series }: Report): Sums[] {
  return buckets.map((_, index) => addAll(series.map(({ values }) => values[index] ?? NO_SUMS)));
}

/** The values of a metric, one for each bucket. */
export function valuesOf(sums: readonly Sums[], { metric, isCumulative }: ReportView): (string | number | null)[] {
  if (!isCumulative || isMean(metric)) return sums.map((one) => valueOf(metric, one));
  let soFar = NO_SUMS;
  return sums.map((one) => valueOf(metric, (soFar = addSums(soFar, one))));
}

function unitOf(metric: Metric): string {
  return metric === 'spend' ? 'spend_usd' : metric;
}

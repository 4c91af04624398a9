import type { CsvCell } from './csv.ts';
import { valueOf } from './metrics.ts';
import type { Report, Series } from './report.ts';
import { addSums, NO_SUMS, type Sums } from './sums.ts';
import { isMean, METRICS, type Bucket, type Group, type Metric } from './vocabulary.ts';
import { zoneWriter } from './zone.ts';

/** How a report is viewed. */
export interface ReportView {
  readonly zone: string;
  readonly bucket: Bucket;
  readonly groups: readonly Group[];
  readonly metric: Metric;
  /** Each value includes all earlier buckets. Means are not added up. */
  readonly isCumulative: boolean;
}

/** A table for a file. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CsvCell[])[];
}

interface NamedView extends ReportView {
  /** Key names by id. */
  readonly keyNames: ReadonlyMap<string, string>;
}

/** Returns what the chart shows: one row per bucket and series, plus the previous period if it is compared. */
export function chartTable(report: Report, view: NamedView): Table {
  const write = zoneWriter(view.zone);
  const { metric, zone } = view;
  const columns = ['bucket_start', 'zone', ...nameColumns(view), unitOf(metric)];
  const rows = report.series.flatMap((series) => {
    const values = valuesOf(series.values, view);
    return report.buckets.map(({ fromMs }, index): CsvCell[] => [write(fromMs), zone, ...nameCells(series, view), values[index]]);
  });
  if (report.former === undefined) return { columns, rows };
  const [totals, former] = [valuesOf(report.values, view), valuesOf(report.former.values, view)];
  const compared = report.buckets.map(({ fromMs }, index): CsvCell[] => {
    return [write(fromMs), zone, ...wordCells('all', view), totals[index], former[index]];
  });
  return { columns: [...columns, `former_${unitOf(metric)}`], rows: [...rows.map((row) => [...row, null]), ...compared] };
}

/** Returns what the table below the chart shows: one row per series, and a total in which each request counts once. */
export function groupTable(report: Report, view: NamedView): Table {
  const write = zoneWriter(view.zone);
  const [first, last] = [report.buckets.at(0), report.buckets.at(-1)];
  const range = [write(first?.fromMs ?? 0), write(last?.toMs ?? 0), view.zone];
  const compared = report.former !== undefined;
  const formerCells = (former: Sums | undefined): CsvCell[] => (compared ? [valueOf(view.metric, former ?? NO_SUMS)] : []);
  return {
    columns: ['from', 'to', 'zone', ...nameColumns(view), ...METRICS.map(unitOf), ...(compared ? [`former_${unitOf(view.metric)}`] : [])],
    rows: [
      ...report.series.map((series) => [...range, ...nameCells(series, view), ...sumCells(series.total), ...formerCells(series.former)]),
      [...range, ...wordCells('total', view), ...sumCells(report.total), ...formerCells(report.former?.total)],
    ],
  };
}

function sumCells(sums: Sums): CsvCell[] {
  return METRICS.map((metric) => valueOf(metric, sums));
}

/** Keys have an id and a name, because names may repeat. */
function nameColumns({ groups }: ReportView): string[] {
  return groups.flatMap((group) => (group === 'key' ? ['key', 'key_name'] : [group]));
}

function nameCells({ names, count }: Series, view: NamedView): CsvCell[] {
  if (names === undefined) return wordCells(`other (${count})`, view);
  return view.groups.flatMap((group, index) => {
    const name = names[index] ?? '';
    return group === 'key' ? [name, view.keyNames.get(name) ?? ''] : [name];
  });
}

/** Puts a word in the first name column, for rows that are not a single series. */
function wordCells(word: string, view: ReportView): CsvCell[] {
  return nameColumns(view).map((_, index) => (index === 0 ? word : ''));
}

/** Returns a metric's values, one per bucket. */
export function valuesOf(sums: readonly Sums[], { metric, isCumulative }: ReportView): (string | number | null)[] {
  if (!isCumulative || isMean(metric)) return sums.map((one) => valueOf(metric, one));
  let soFar = NO_SUMS;
  return sums.map((one) => valueOf(metric, (soFar = addSums(soFar, one))));
}

function unitOf(metric: Metric): string {
  return metric === 'spend' ? 'spend_usd' : metric;
}

import type { OpenDatabase } from '../database/connect.ts';
import { columnsOf, weightOf } from './metrics.ts';
import { CellReader, type Cells, type CellsQuery } from './report-cells.ts';
import { Ranking } from './report-ranking.ts';
import { addAll, NO_SUMS, type Sums } from './sums.ts';
import { isMean, type Bucket, type Metric } from './vocabulary.ts';
import { cutIntoBuckets, stepOf, type Span } from './zone.ts';

/** What a report shows. */
export interface ReportQuery extends CellsQuery {
  /** Begins and ends on a quarter hour, or on a minute if the report is by minute. */
  readonly span: Span;
  readonly zone: string;
  readonly bucket: Bucket;
  /** What series are ranked by and show. */
  readonly metric: Metric;
  /** How many series are shown by name. All others are merged into one. */
  readonly seriesMax: number;
  readonly isCompared: boolean;
  /** If the span is not over yet, the previous period counts only up to the same point. */
  readonly nowMs: number;
}

/** One line of a chart: one value per group, or all series too small to be shown. */
export interface Series {
  /** Undefined for all other series together. */
  readonly names: readonly string[] | undefined;
  /** How many series it stands for. */
  readonly count: number;
  readonly total: Sums;
  /** Contain only the metric. */
  readonly values: readonly Sums[];
  readonly former: Sums | undefined;
}

/** A finished report. */
export interface Report {
  readonly buckets: readonly Span[];
  /** Largest first, others last. */
  readonly series: readonly Series[];
  /** All requests, each counted once even if it belongs to several series. */
  readonly total: Sums;
  readonly values: readonly Sums[];
  readonly former: PreviousPeriod | undefined;
  /** True when requests belong to several series, because their key has several tags. */
  readonly isOverlapping: boolean;
}

/** The previous period, of the same length and cut the same way. */
export interface PreviousPeriod {
  readonly span: Span;
  readonly total: Sums;
  readonly values: readonly Sums[];
}

/**
 * Sums an account's requests by time buckets and by one or two groups. First reads the whole period, to find the largest series. Then
 * reads the buckets, with everything that is not shown by name merged into one.
 */
export async function readReport({ kysely, dialect }: OpenDatabase, query: ReportQuery): Promise<Report> {
  // Both reads use one snapshot, or bars would not add up to their totals.
  const reading = kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return reading.execute(async (transaction) => readParts({ kysely: transaction, dialect }, query));
}

async function readParts(database: OpenDatabase, query: ReportQuery): Promise<Report> {
  const { span, zone, bucket, metric, seriesMax, isCompared } = query;
  const buckets = cutIntoBuckets(span, bucket, zone);
  const previousSpan = spanBefore(query);
  const spans = [...buckets, ...(isCompared ? cutIntoBuckets(previousSpan, bucket, zone) : [])];
  const reader = await CellReader.open(database, { ...query, isCounted: isCounted(query) });
  const counted = isCounted(query) ? await reader.count(spans, stepOf(bucket)) : undefined;
  const whole = counted === undefined ? await reader.read(isCompared ? [span, previousSpan] : [span]) : joinSpans(counted, buckets.length);
  const ranking = new Ranking(whole.cells, { seriesMax, weightOf: (sums) => weightOf(metric, sums) });
  const parts = counted ?? (await reader.read(spans, { classes: ranking.classes(), sums: columnsOf(metric) }));
  const values = ranking.spread(parts.cells, spans.length);
  const [total = NO_SUMS, formerTotal = NO_SUMS] = whole.totals;
  return {
    buckets,
    series: ranking.series.map(({ former, ...series }, index) => {
      return { ...series, values: (values[index] ?? []).slice(0, buckets.length), former: isCompared ? former : undefined };
    }),
    total,
    values: parts.totals.slice(0, buckets.length),
    former: isCompared ? { span: previousSpan, total: formerTotal, values: parts.totals.slice(buckets.length) } : undefined,
    isOverlapping: whole.cells.some(({ names }) => names.length > 1),
  };
}

/** Returns whether requests must be counted one by one, because roll-ups cannot answer the question. There is a limit on how many. */
export function isCounted({ bucket, metric, groups, filter }: Pick<ReportQuery, 'bucket' | 'metric' | 'groups' | 'filter'>): boolean {
  const isByStatus = groups.includes('status') || filter.status !== undefined;
  return bucket === 'minute' || groups.includes('end_user') || filter.endUser !== undefined || (isByStatus && isMean(metric));
}

/** Merges the buckets of the current period into one span, and those of the previous period into another. */
function joinSpans({ cells, totals }: Cells, bucketCount: number): Cells {
  return {
    cells: cells.map((cell) => ({ ...cell, n: cell.n < bucketCount ? 0 : 1 })),
    totals: [addAll(totals.slice(0, bucketCount)), addAll(totals.slice(bucketCount))],
  };
}

function spanBefore({ span: { fromMs, toMs }, bucket, nowMs }: ReportQuery): Span {
  const stepMs = stepOf(bucket);
  const lengthMs = toMs - fromMs;
  const reachedMs = Math.min(toMs, Math.max(fromMs + stepMs, Math.ceil(nowMs / stepMs) * stepMs));
  return { fromMs: fromMs - lengthMs, toMs: reachedMs - lengthMs };
}

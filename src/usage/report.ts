import type { OpenDatabase } from '../database/connect.ts';
import { addSums, NO_SUMS, ofStatus, readSums, type Dimension, type Sums, type SumsBySpan, type SumsFilter } from './sums.ts';
import { cutIntoBuckets, QUARTER_MS, type Bucket, type Span } from './zone.ts';
import { sizeOf, type Metric } from './metrics.ts';

/** What the series of a report can stand for. */
export const GROUPS = ['model', 'key', 'provider', 'status'] as const;
export type Group = (typeof GROUPS)[number];

export interface ReportQuestion {
  readonly accountId: string;
  /** Begins and ends with a quarter of an hour. */
  readonly span: Span;
  readonly zone: string;
  readonly bucket: Bucket;
  readonly group: Group;
  /** What series are ranked by. */
  readonly metric: Metric;
  readonly filter: SumsFilter;
  /** How many series are shown by name; all others are one. */
  readonly seriesMax: number;
  readonly isCompared: boolean;
  /** Of a span that is not over yet, the time before counts only up to the same point. */
  readonly nowMs: number;
}

/** One line of a chart: a value of the group, or all those that are too small to be shown. */
export interface Series {
  /** Undefined for all others together. */
  readonly name: string | undefined;
  /** How many values of the group it stands for. */
  readonly count: number;
  readonly total: Sums;
  readonly values: readonly Sums[];
  readonly former: Sums | undefined;
}

export interface Report {
  readonly buckets: readonly Span[];
  /** The largest first, the others last. */
  readonly series: readonly Series[];
  readonly total: Sums;
  readonly former: Former | undefined;
}

/** The time before, as long and cut in the same way. */
export interface Former {
  readonly span: Span;
  readonly total: Sums;
  readonly values: readonly Sums[];
}

/** Adds up an account's requests by buckets of time and by one thing that tells them apart. */
export async function readReport(database: OpenDatabase, question: ReportQuestion): Promise<Report> {
  const { span, zone, bucket, isCompared } = question;
  const buckets = cutIntoBuckets(span, bucket, zone);
  const formerSpan = spanBefore(question);
  const formerBuckets = isCompared ? cutIntoBuckets(formerSpan, bucket, zone) : [];
  const sums = await readGrouped(database, question, [...buckets, ...formerBuckets]);
  const [now, before] = [sums.slice(0, buckets.length), sums.slice(buckets.length)];
  const series = rank(question, { now: toValues(now), former: isCompared ? toTotals(before) : undefined });
  return {
    buckets,
    series,
    total: addAll(series.map(({ total }) => total)),
    former: isCompared ? { span: formerSpan, ...sumUp(before) } : undefined,
  };
}

function spanBefore({ span: { fromMs, toMs }, nowMs }: ReportQuestion): Span {
  const lengthMs = toMs - fromMs;
  const reachedMs = Math.min(toMs, Math.max(fromMs + QUARTER_MS, Math.ceil(nowMs / QUARTER_MS) * QUARTER_MS));
  return { fromMs: fromMs - lengthMs, toMs: reachedMs - lengthMs };
}

/** What all of these come to. */
export function addAll(sums: readonly Sums[]): Sums {
  return sums.reduce(addSums, NO_SUMS);
}

async function readGrouped(database: OpenDatabase, question: ReportQuestion, spans: readonly Span[]): Promise<SumsBySpan> {
  const { accountId, group, filter } = question;
  if (group !== 'status') return readSums(database, { accountId, spans, group: group satisfies Dimension, filter });
  const all = await readSums(database, { accountId, spans, group: undefined, filter });
  return all.map((found) => {
    const sums = found.get('');
    if (sums === undefined) return found;
    return new Map((['ok', 'error'] as const).map((status) => [status, ofStatus(sums, status)]));
  });
}

function toValues(found: SumsBySpan): Map<string, Sums[]> {
  const values = new Map<string, Sums[]>();
  for (const [index, bySeries] of found.entries())
    for (const [name, sums] of bySeries) {
      let list = values.get(name);
      if (list === undefined) values.set(name, (list = found.map(() => NO_SUMS)));
      list[index] = sums;
    }
  return values;
}

function toTotals(found: SumsBySpan): Map<string, Sums> {
  const totals = new Map<string, Sums>();
  for (const bySeries of found) for (const [name, sums] of bySeries) totals.set(name, addSums(totals.get(name) ?? NO_SUMS, sums));
  return totals;
}

function sumUp(found: SumsBySpan): { readonly total: Sums; readonly values: readonly Sums[] } {
  const values = found.map((bySeries) => addAll([...bySeries.values()]));
  return { total: addAll(values), values };
}

interface Found {
  readonly now: ReadonlyMap<string, readonly Sums[]>;
  readonly former: ReadonlyMap<string, Sums> | undefined;
}

function rank({ metric, seriesMax }: ReportQuestion, { now, former }: Found): Series[] {
  const all = [...now].map(([name, values]): Series => {
    return { name, count: 1, total: addAll(values), values, former: former === undefined ? undefined : (former.get(name) ?? NO_SUMS) };
  });
  all.sort((one, other) => sizeOf(metric, other.total) - sizeOf(metric, one.total) || (one.name ?? '').localeCompare(other.name ?? ''));
  // Another line for a single value would tell less than its name.
  const cut = all.length === seriesMax + 1 ? all.length : seriesMax;
  const others = all.slice(cut);
  return others.length === 0 ? all : [...all.slice(0, cut), joinOthers(others)];
}

function joinOthers(others: readonly Series[]): Series {
  const [first] = others;
  return {
    name: undefined,
    count: others.length,
    total: addAll(others.map(({ total }) => total)),
    values: (first?.values ?? []).map((_, index) => addAll(others.map(({ values }) => values[index] ?? NO_SUMS))),
    former: first?.former === undefined ? undefined : addAll(others.map(({ former }) => former ?? NO_SUMS)),
  };
}

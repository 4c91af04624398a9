import { queryOptions } from '@tanstack/react-query';
import { api, call, type Answer } from '../../api.ts';
import { formatUsd } from '../../money.ts';
import { keyLabel, type Names } from '../../names.ts';
import { formatCount, formatMs } from '../../numbers.ts';
import { readQuery } from '../../read-query.ts';
import { usage as t } from '../../strings/index.ts';
import { spanOf } from '../../time.ts';
import type { Span } from '../../time.ts';
import type { Bucket, Group, Metric, UsageSearch } from './search.ts';

export type Report = Answer<typeof api.usage.$get>;
export type Sums = Report['total'];

/** A report's question with everything that the address leaves to us. */
export interface Asked {
  readonly span: Span;
  readonly zone: string;
  readonly metric: Metric;
  readonly group: Group;
  readonly bucket: Bucket;
  readonly isCompared: boolean;
  readonly isCumulative: boolean;
  /** As the server takes it. */
  readonly query: Record<string, string>;
}

const DAY_MS = 86_400_000;
const MEANS: ReadonlySet<Metric> = new Set(['first_token_ms', 'latency_ms']);
/** More bars than this are no longer seen. */
const BARS_MAX = 400;

/** Fills in what the address does not say. */
export function askedBy(search: UsageSearch, zone: string, nowMs: number): Asked {
  const { range = '7d', metric = 'spend', group = 'model', from, to } = search;
  const span = spanOf({ range, from, to }, zone, nowMs);
  const fitting = bucketsFor(span);
  const bucket = search.bucket !== undefined && fitting.includes(search.bucket) ? search.bucket : usualBucket(span);
  const isCompared = search.compare === 'yes';
  const isCumulative = search.cumulative === 'yes' && !isMean(metric);
  const filters = Object.fromEntries(
    (['model', 'key', 'provider'] as const).flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])),
  );
  const query = {
    from: String(span.fromMs),
    to: String(span.toMs),
    zone,
    bucket,
    group,
    metric,
    top: search.top ?? '7',
    compare: isCompared ? 'yes' : 'no',
    cumulative: isCumulative ? 'yes' : 'no',
    ...filters,
  };
  return { span, zone, metric, group, bucket, isCompared, isCumulative, query };
}

export function reportQuery({ query }: Asked) {
  return queryOptions({
    queryKey: ['usage', query],
    queryFn: () => call(api.usage.$get({ query: readQuery(query) })),
    placeholderData: (former: Report | undefined) => former,
  });
}

/** The buckets that a range can be cut into and still be read. */
export function bucketsFor({ fromMs, toMs }: Span): Bucket[] {
  const lengths: readonly (readonly [Bucket, number])[] = [
    ['quarter', DAY_MS / 96],
    ['hour', DAY_MS / 24],
    ['day', DAY_MS],
    ['week', 7 * DAY_MS],
    ['month', 28 * DAY_MS],
  ];
  return lengths.filter(([, length]) => (toMs - fromMs) / length <= BARS_MAX).map(([bucket]) => bucket);
}

function usualBucket({ fromMs, toMs }: Span): Bucket {
  const days = (toMs - fromMs) / DAY_MS;
  if (days <= 2.1) return 'hour';
  return days <= 95 ? 'day' : days <= 400 ? 'week' : 'month';
}

/** True for what cannot be added up. */
export function isMean(metric: Metric): boolean {
  return MEANS.has(metric);
}

/** A value for people. */
export function formatValue(metric: Metric, value: string | number | null): string {
  if (value === null) return '–';
  if (metric === 'spend') return formatUsd(String(value));
  return isMean(metric) ? formatMs(Number(value)) : formatCount(Number(value));
}

/** A number of a chart for people: axes need values that nobody sent. */
export function formatNumber(metric: Metric, value: number): string {
  return formatValue(metric, metric === 'spend' ? value.toFixed(9) : value);
}

/** What a series is called. */
export function seriesLabel({ name, count }: { readonly name: string | null; readonly count: number }, group: Group, names: Names): string {
  if (name === null) return t.other(count);
  if (group === 'key') return keyLabel(name, names);
  if (group === 'status') return name === 'error' ? t.statuses.error : t.statuses.ok;
  return name === '' ? t.noProvider : name;
}

/** How much something changed: 0.12 is 12 % more. Undefined where there was nothing before. */
export function changeOf(now: string | number | null, before: string | number | null): number | undefined {
  const base = Number(before);
  return now === null || before === null || base === 0 ? undefined : Number(now) / base - 1;
}

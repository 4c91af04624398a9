import { queryOptions } from '@tanstack/react-query';
import { BUCKET_MS, BUCKETS, bucketsMax, isMean } from '../../../src/dashboard/contract.ts';
import type { Bucket, Group, Metric } from '../../../src/dashboard/contract.ts';
import { api, call, type ResponseBody } from '../../api.ts';
import { formatUsd } from '../../money.ts';
import { keyLabel, type Names } from '../../names.ts';
import { formatCount, formatMs } from '../../numbers.ts';
import { asQuery } from '../../as-query.ts';
import { usage as t } from '../../strings/index.ts';
import { DAY_MS, spanOf } from '../../time.ts';
import type { Span } from '../../time.ts';
import { FILTERS, type UsageSearch } from './search.ts';

export type Report = ResponseBody<typeof api.usage.$get>;
export type Sums = Report['total'];
export type Series = Report['series'][number];

/** Specification of a report: the search parameters with all defaults filled in. */
export interface ReportSpec {
  readonly span: Span;
  readonly zone: string;
  readonly metric: Metric;
  /** One or two groupings. */
  readonly groups: readonly [Group, Group?];
  readonly bucket: Bucket;
  /** Bucket sizes available for the range. */
  readonly buckets: readonly Bucket[];
  readonly isCompared: boolean;
  readonly isCumulative: boolean;
  /** True if durations are missing, because the report splits requests by status. They are loaded only if the metric is a duration. */
  readonly isUntimed: boolean;
  /** Query parameters for the server. */
  readonly query: Record<string, string>;
}

/** More bars than this would be too thin to see. */
const BARS_MAX = 400;

/** Builds the specification of a report from the search parameters. */
export function reportSpecOf(search: UsageSearch, zone: string, nowMs: number): ReportSpec {
  const { range = '7d', metric = 'spend', group = 'model', from, to } = search;
  const second = search.second === group ? undefined : search.second;
  const span = spanOf({ range, from, to }, zone, nowMs);
  const isCompared = search.compare === 'yes';
  const used = FILTERS.filter((name) => search[name] !== undefined);
  const buckets = bucketsFor({ span, names: [group, ...(second === undefined ? [] : [second]), ...used], isCompared });
  const bucket = buckets.find((each) => each === search.bucket) ?? defaultBucket(span);
  const isCumulative = search.cumulative === 'yes' && !isMean(metric);
  const query = {
    from: String(span.fromMs),
    to: String(span.toMs),
    zone,
    bucket,
    group,
    ...(second && { second }),
    metric,
    top: search.top ?? '7',
    compare: isCompared ? 'yes' : 'no',
    cumulative: isCumulative ? 'yes' : 'no',
    ...Object.fromEntries(used.map((name) => [name, search[name] ?? ''])),
  };
  const isByStatus = group === 'status' || second === 'status' || search.status !== undefined;
  const isByEndUser = group === 'end_user' || second === 'end_user' || search.end_user !== undefined;
  const isUntimed = isByStatus && !isMean(metric) && !isByEndUser && bucket !== 'minute';
  const groups: ReportSpec['groups'] = second === undefined ? [group] : [group, second];
  return { span, zone, metric, groups, bucket, buckets, isCompared, isCumulative, isUntimed, query };
}

export function reportQuery({ query }: ReportSpec) {
  return queryOptions({
    queryKey: ['usage', query],
    queryFn: () => call(api.usage.$get({ query: asQuery(query) })),
    placeholderData: (previous: Report | undefined) => previous,
  });
}

interface BucketContext {
  readonly span: Span;
  readonly names: readonly string[];
  readonly isCompared: boolean;
}

/** Returns the bucket sizes that give a range a readable number of bars. */
function bucketsFor({ span: { fromMs, toMs }, names, isCompared }: BucketContext): Bucket[] {
  return BUCKETS.filter((bucket) => (toMs - fromMs) / BUCKET_MS[bucket] <= Math.min(BARS_MAX, bucketsMax({ bucket, names, isCompared })));
}

function defaultBucket({ fromMs, toMs }: Span): Bucket {
  const days = (toMs - fromMs) / DAY_MS;
  if (days <= 0.1) return 'minute';
  if (days <= 2.1) return days <= 0.5 ? 'quarter' : 'hour';
  return days <= 95 ? 'day' : days <= 400 ? 'week' : 'month';
}

/** Formats a value of a metric. */
export function formatValue(metric: Metric, value: string | number | null): string {
  if (value === null) return '–';
  if (metric === 'spend') return formatUsd(String(value));
  return isMean(metric) ? formatMs(Number(value)) : formatCount(Number(value));
}

/** Formats a number of a chart. The ticks of an axis are not values from the server. */
export function formatNumber(metric: Metric, value: number): string {
  return formatValue(metric, metric === 'spend' ? value.toFixed(9) : value);
}

/** Returns the label of a series. */
export function seriesLabel(
  { names: seriesNames, count }: Pick<Series, 'names' | 'count'>,
  { groups }: Pick<ReportSpec, 'groups'>,
  names: Names,
): string {
  if (seriesNames === null) return t.other(count);
  return groups.map((group, index) => (group === undefined ? '' : nameLabel(seriesNames[index] ?? '', group, names))).join(' · ');
}

/** Returns the label of one value of a grouping. */
export function nameLabel(name: string, group: Group, names: Names): string {
  if (group === 'key') return keyLabel(name, names);
  if (group === 'status') return name === 'error' ? t.statuses.error : t.statuses.ok;
  if (name !== '') return name;
  return MISSING_NAME_LABELS[group];
}

/** Labels of requests without a value. Models and keys always have one. */
const MISSING_NAME_LABELS: Readonly<Record<Exclude<Group, 'key' | 'status'>, string>> = {
  model: '',
  provider: t.noProvider,
  tag: t.noTag,
  end_user: t.noEndUser,
};

/** Returns the groupings of the report in words. */
export function groupsLabel({ groups }: Pick<ReportSpec, 'groups'>): string {
  return groups.flatMap((group) => (group === undefined ? [] : [t.groups[group].toLowerCase()])).join(t.andGroup);
}

/** Returns the relative change: 0.12 is 12 % more. Undefined if there was nothing before. */
export function changeOf(now: string | number | null, before: string | number | null): number | undefined {
  const base = Number(before);
  return now === null || before === null || base === 0 ? undefined : Number(now) / base - 1;
}

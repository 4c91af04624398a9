import { queryOptions } from '@tanstack/react-query';
import { BUCKET_MS, BUCKETS, bucketsMax, isMean } from '../../../src/dashboard/contract.ts';
import type { Bucket, Group, Metric } from '../../../src/dashboard/contract.ts';
import { api, call, type ResponseBody } from '../../api.ts';
import { formatUsd } from '../../money.ts';
import { keyLabel, type Names } from '../../names.ts';
import { formatCount, formatMs } from '../../numbers.ts';
import { asQuery } from '../../as-query.ts';
import { usage as t } from '../../strings/index.ts';
import { spanOf } from '../../time.ts';
import type { Span } from '../../time.ts';
import { FILTERS, type UsageSearch } from './search.ts';

export type Report = ResponseBody<typeof api.usage.$get>;
export type Sums = Report['total'];
export type Series = Report['series'][number];

/** A report's question with everything that the address leaves to us. */
export interface Asked {
  readonly span: Span;
  readonly zone: string;
  readonly metric: Metric;
  /** One or two. */
  readonly groups: readonly [Group, Group?];
  readonly bucket: Bucket;
  /** Those that the range can be cut into. */
  readonly buckets: readonly Bucket[];
  readonly isCompared: boolean;
  readonly isCumulative: boolean;
  /** Whether the times of failures and of all others are missing: they are told where a time is shown. */
  readonly isUntimed: boolean;
  /** As the server takes it. */
  readonly query: Record<string, string>;
}

const DAY_MS = 86_400_000;
/** More bars than this are no longer seen. */
const BARS_MAX = 400;

/** Fills in what the address does not say. */
export function askedBy(search: UsageSearch, zone: string, nowMs: number): Asked {
  const { range = '7d', metric = 'spend', group = 'model', from, to } = search;
  const second = search.second === group ? undefined : search.second;
  const span = spanOf({ range, from, to }, zone, nowMs);
  const isCompared = search.compare === 'yes';
  const used = FILTERS.filter((name) => search[name] !== undefined);
  const buckets = bucketsFor({ span, names: [group, ...(second === undefined ? [] : [second]), ...used], isCompared });
  const bucket = buckets.find((each) => each === search.bucket) ?? usualBucket(span);
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
  const isOfEndUsers = group === 'end_user' || second === 'end_user' || search.end_user !== undefined;
  const isUntimed = isByStatus && !isMean(metric) && !isOfEndUsers && bucket !== 'minute';
  const groups: Asked['groups'] = second === undefined ? [group] : [group, second];
  return { span, zone, metric, groups, bucket, buckets, isCompared, isCumulative, isUntimed, query };
}

export function reportQuery({ query }: Asked) {
  return queryOptions({
    queryKey: ['usage', query],
    queryFn: () => call(api.usage.$get({ query: asQuery(query) })),
    placeholderData: (former: Report | undefined) => former,
  });
}

interface Cut {
  readonly span: Span;
  readonly names: readonly string[];
  readonly isCompared: boolean;
}

/** The buckets that a range can be cut into and still be read. */
function bucketsFor({ span: { fromMs, toMs }, names, isCompared }: Cut): Bucket[] {
  return BUCKETS.filter((bucket) => (toMs - fromMs) / BUCKET_MS[bucket] <= Math.min(BARS_MAX, bucketsMax({ bucket, names, isCompared })));
}

function usualBucket({ fromMs, toMs }: Span): Bucket {
  const days = (toMs - fromMs) / DAY_MS;
  if (days <= 0.1) return 'minute';
  if (days <= 2.1) return days <= 0.5 ? 'quarter' : 'hour';
  return days <= 95 ? 'day' : days <= 400 ? 'week' : 'month';
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
export function seriesLabel(
  { names: ofSeries, count }: Pick<Series, 'names' | 'count'>,
  { groups }: Pick<Asked, 'groups'>,
  names: Names,
): string {
  if (ofSeries === null) return t.other(count);
  return groups.map((group, index) => (group === undefined ? '' : nameLabel(ofSeries[index] ?? '', group, names))).join(' · ');
}

/** What a value of a group is called. */
export function nameLabel(name: string, group: Group, names: Names): string {
  if (group === 'key') return keyLabel(name, names);
  if (group === 'status') return name === 'error' ? t.statuses.error : t.statuses.ok;
  if (name !== '') return name;
  return NAMELESS[group];
}

/** What requests without a value are called. Models and keys always have one. */
const NAMELESS: Readonly<Record<Exclude<Group, 'key' | 'status'>, string>> = {
  model: '',
  provider: t.noProvider,
  tag: t.noTag,
  end_user: t.noEndUser,
};

/** What the report tells requests apart by, in words. */
export function groupsLabel({ groups }: Pick<Asked, 'groups'>): string {
  return groups.flatMap((group) => (group === undefined ? [] : [t.groups[group].toLowerCase()])).join(t.andGroup);
}

/** How much something changed: 0.12 is 12 % more. Undefined where there was nothing before. */
export function changeOf(now: string | number | null, before: string | number | null): number | undefined {
  const base = Number(before);
  return now === null || before === null || base === 0 ? undefined : Number(now) / base - 1;
}

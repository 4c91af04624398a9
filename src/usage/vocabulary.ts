import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts';

/** The vocabulary of reports. The browser loads this file too, so it imports nothing but durations. */

/** What a report can show. The last two are means, which cannot be added up. */
export const METRICS = [
  'spend',
  'requests',
  'errors',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'first_token_ms',
  'latency_ms',
] as const;
export type Metric = (typeof METRICS)[number];

const MEANS: ReadonlySet<Metric> = new Set(['first_token_ms', 'latency_ms']);

/** Returns whether a metric is a mean, which cannot be added up. */
export function isMean(metric: Metric): boolean {
  return MEANS.has(metric);
}

/** What a report can be grouped by. A request has the tags of its key. */
export const GROUPS = ['model', 'key', 'provider', 'tag', 'status', 'end_user'] as const;
export type Group = (typeof GROUPS)[number];

/** The time buckets of a report. From the hour on they follow the clock and calendar of a zone. */
export const BUCKETS = ['minute', 'quarter', 'hour', 'day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** The shortest possible length of each bucket. */
export const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  minute: MINUTE_MS,
  quarter: 15 * MINUTE_MS,
  hour: HOUR_MS,
  day: 23 * HOUR_MS,
  week: 167 * HOUR_MS,
  month: 671 * HOUR_MS,
};

/** Minutes are counted from the requests themselves, so only over six hours, plus the quarter hours at both ends. */
const MINUTES_MAX = 390;

const BUCKETS_MAX = 1100;
/** When requests are grouped or filtered by two dimensions, only whole days of history have sums. */
const TWOFOLD_BUCKETS_MAX = 170;

/** What limits the number of buckets in a report. */
interface Cut {
  readonly bucket: Bucket;
  /** Every dimension that requests are grouped or filtered by. */
  readonly names: readonly string[];
  readonly isCompared: boolean;
}

/** Returns how many buckets a report may have and still load quickly. */
export function bucketsMax({ bucket, names, isCompared }: Cut): number {
  if (bucket === 'minute') return MINUTES_MAX;
  // Their requests are counted one by one, with a limit on how many.
  if (names.includes('end_user')) return BUCKETS_MAX;
  const dimensions = new Set(names.filter((name) => name !== 'status').map((name) => (name === 'tag' ? 'key' : name)));
  if (dimensions.size < 2 || BUCKET_MS[bucket] >= DAY_MS - BUCKET_MS.hour) return BUCKETS_MAX;
  return isCompared ? TWOFOLD_BUCKETS_MAX / 2 : TWOFOLD_BUCKETS_MAX;
}

/** How a request ended, as a filter. `ok` and `error` together cover every request. */
export const REQUEST_STATUSES = ['ok', 'error', 'client_gone', 'recovered'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The errors an admitted request can end with. Requests refused before that are not in the list. */
export const REQUEST_ERRORS = [
  'provider_refused',
  'provider_rate_limited',
  'provider_error',
  'provider_unavailable',
  'provider_timeout',
  'provider_misconfigured',
  'invalid_image_url',
  'invalid_image_format',
  'invalid_media_url',
  'invalid_media_format',
  'request_too_large',
  'array_above_max_length',
  'too_many_concurrent_requests',
  'ledger_unavailable',
  'too_busy',
  'draining',
  'internal_error',
] as const;

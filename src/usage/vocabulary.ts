import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts';

/** The words of a report. The browser has them from here too, so this file knows of lengths of time and of nothing else. */

/** What a report can show. The last two are means: they rise and fall, and adding them up says nothing. */
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

/** True for what cannot be added up. */
export function isMean(metric: Metric): boolean {
  return MEANS.has(metric);
}

/** What the series of a report can stand for. A request has the tags of its key. */
export const GROUPS = ['model', 'key', 'provider', 'tag', 'status', 'end_user'] as const;
export type Group = (typeof GROUPS)[number];

/** The lengths that a report can be cut into. From the hour on they follow the clocks and the calendar of a zone. */
export const BUCKETS = ['minute', 'quarter', 'hour', 'day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** The shortest that each of them can be. */
export const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  minute: MINUTE_MS,
  quarter: 15 * MINUTE_MS,
  hour: HOUR_MS,
  day: 23 * HOUR_MS,
  week: 167 * HOUR_MS,
  month: 671 * HOUR_MS,
};

/** Minutes are counted from the requests themselves, so only over six hours, with the quarters of an hour at both ends. */
const MINUTES_MAX = 390;

const BUCKETS_MAX = 1100;
/** Where requests are told apart by two things at once, only whole days of the past have their own sums. */
const TWOFOLD_BUCKETS_MAX = 170;

/** What decides how many buckets a report may have. */
interface Cut {
  readonly bucket: Bucket;
  /** Everything that requests are told apart or chosen by. */
  readonly names: readonly string[];
  readonly isCompared: boolean;
}

/** How many buckets a report may have and still come at once. */
export function bucketsMax({ bucket, names, isCompared }: Cut): number {
  if (bucket === 'minute') return MINUTES_MAX;
  // Their requests are counted one by one, and there is a bound for how many.
  if (names.includes('end_user')) return BUCKETS_MAX;
  const dimensions = new Set(names.filter((name) => name !== 'status').map((name) => (name === 'tag' ? 'key' : name)));
  if (dimensions.size < 2 || BUCKET_MS[bucket] >= DAY_MS - BUCKET_MS.hour) return BUCKETS_MAX;
  return isCompared ? TWOFOLD_BUCKETS_MAX / 2 : TWOFOLD_BUCKETS_MAX;
}

/** What a request can be looked for by how it ended. The first two are every request. */
export const REQUEST_STATUSES = ['ok', 'error', 'client_gone', 'recovered'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The errors that a request can end with after it was let in; refusals before that leave no request in the list. */
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

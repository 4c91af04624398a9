import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { RANGE_NAMES } from '../../time.ts';
import type { RangeName } from '../../time.ts';

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

export const GROUPS = ['model', 'key', 'provider', 'status'] as const;
export type Group = (typeof GROUPS)[number];

export const BUCKETS = ['quarter', 'hour', 'day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const TOPS = ['3', '5', '7'] as const;
const YES = ['yes'] as const;

/** Everything that decides what the page shows. */
export interface UsageSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly metric?: Metric;
  readonly group?: Group;
  readonly bucket?: Bucket;
  readonly top?: (typeof TOPS)[number];
  readonly compare?: 'yes';
  readonly cumulative?: 'yes';
  readonly model?: string;
  readonly key?: string;
  readonly provider?: string;
}

export function readUsageSearch(raw: RawSearch): UsageSearch {
  return compact({
    range: readChoice(raw, 'range', RANGE_NAMES),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    metric: readChoice(raw, 'metric', METRICS),
    group: readChoice(raw, 'group', GROUPS),
    bucket: readChoice(raw, 'bucket', BUCKETS),
    top: readChoice(raw, 'top', TOPS),
    compare: readChoice(raw, 'compare', YES),
    cumulative: readChoice(raw, 'cumulative', YES),
    model: readText(raw, 'model'),
    key: readText(raw, 'key'),
    provider: readText(raw, 'provider'),
  });
}

import { BUCKETS, GROUPS, METRICS } from '../../../src/dashboard/contract.ts';
import type { Bucket, Group, Metric } from '../../../src/dashboard/contract.ts';
import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { RANGE_NAMES } from '../../time.ts';
import type { RangeName } from '../../time.ts';
import { readZone } from '../../zone.ts';

/** How many series can be shown beside "Other". */
export const TOP_COUNTS = ['3', '5', '7'] as const;
/** Outcomes of a request to filter by. */
export const STATUSES = ['ok', 'error'] as const;
const YES = ['yes'] as const;

/** Filters of a report. */
export const FILTERS = ['model', 'key', 'provider', 'tag', 'end_user', 'status'] as const;

/** Search parameters of the usage page. */
export interface UsageSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly zone?: string;
  readonly metric?: Metric;
  readonly group?: Group;
  readonly second?: Group;
  readonly bucket?: Bucket;
  readonly top?: (typeof TOP_COUNTS)[number];
  readonly compare?: 'yes';
  readonly cumulative?: 'yes';
  readonly model?: string;
  readonly key?: string;
  readonly provider?: string;
  readonly tag?: string;
  readonly end_user?: string;
  readonly status?: (typeof STATUSES)[number];
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readUsageSearch(raw: RawSearch): UsageSearch {
  return compact({
    range: readChoice(raw, 'range', RANGE_NAMES),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    zone: readZone(raw),
    metric: readChoice(raw, 'metric', METRICS),
    group: readChoice(raw, 'group', GROUPS),
    second: readChoice(raw, 'second', GROUPS),
    bucket: readChoice(raw, 'bucket', BUCKETS),
    top: readChoice(raw, 'top', TOP_COUNTS),
    compare: readChoice(raw, 'compare', YES),
    cumulative: readChoice(raw, 'cumulative', YES),
    model: readText(raw, 'model'),
    key: readText(raw, 'key'),
    provider: readText(raw, 'provider'),
    tag: readText(raw, 'tag'),
    end_user: readText(raw, 'end_user'),
    status: readChoice(raw, 'status', STATUSES),
  });
}

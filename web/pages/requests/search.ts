import { REQUEST_STATUSES } from '../../../src/dashboard/contract.ts';
import type { RequestStatus } from '../../../src/dashboard/contract.ts';
import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { RANGE_NAMES } from '../../time.ts';
import type { RangeName } from '../../time.ts';
import { readZone } from '../../zone.ts';

/** Minimum and maximum filters. */
export const BOUNDS = ['cost', 'costMax', 'tokens', 'tokensMax', 'ttft', 'ttftMax', 'duration', 'durationMax'] as const;
/** Streamed requests, or all others. */
export const STREAMS = ['yes', 'no'] as const;
/** Admitted requests, or refused ones. */
export const VIEWS = ['all', 'refused'] as const;
/** HTTP statuses of refused requests. */
export const REFUSALS = ['400', '401', '403', '404', '429', '500'] as const;
const TEXTS = ['q', 'model', 'key', 'provider', 'tag', 'end_user', 'served', 'finish', 'error', ...BOUNDS] as const;

/** Filters of requests, under the names of the server's parameters. */
export const FILTERS = [...TEXTS, 'status', 'stream'] as const;

/** Search parameters: range, filters, page, and the request open in the drawer. */
export interface RequestsSearch extends Readonly<Partial<Record<(typeof TEXTS)[number], string>>> {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly zone?: string;
  readonly status?: RequestStatus;
  readonly stream?: (typeof STREAMS)[number];
  readonly before?: string;
  readonly live?: 'yes';
  readonly view?: (typeof VIEWS)[number];
  readonly http?: (typeof REFUSALS)[number];
  readonly request?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readRequestsSearch(raw: RawSearch): RequestsSearch {
  const texts: Readonly<Partial<Record<(typeof TEXTS)[number], string>>> = compact(
    Object.fromEntries(TEXTS.map((name) => [name, readText(raw, name)])),
  );
  const choices = compact({
    stream: readChoice(raw, 'stream', STREAMS),
    live: readChoice(raw, 'live', ['yes']),
    http: readChoice(raw, 'http', REFUSALS),
  });
  return { ...texts, ...readListSearch(raw), ...choices };
}

/** Reads the parameters that every list of requests has: view, range, status, page, and the request open in the drawer. */
export function readListSearch(raw: RawSearch) {
  return compact({
    view: readChoice(raw, 'view', VIEWS),
    range: readChoice(raw, 'range', RANGE_NAMES),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    zone: readZone(raw),
    status: readChoice(raw, 'status', REQUEST_STATUSES),
    before: readText(raw, 'before'),
    request: readText(raw, 'request'),
  });
}

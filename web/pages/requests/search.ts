import { compact, readChoice, readDay, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { RANGE_NAMES } from '../../time.ts';
import type { RangeName } from '../../time.ts';

/** What requests can be filtered by, under the names that the server has for it. */
export const FILTERS = [
  'q',
  'status',
  'model',
  'key',
  'provider',
  'stream',
  'finish',
  'error',
  'cost',
  'tokens',
  'ttft',
  'duration',
] as const;

/** The range, the filters, the page, and the request whose drawer is open. */
export interface RequestsSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly q?: string;
  readonly status?: 'ok' | 'error';
  readonly model?: string;
  readonly key?: string;
  readonly provider?: string;
  readonly stream?: 'yes' | 'no';
  readonly finish?: string;
  readonly error?: string;
  readonly cost?: string;
  readonly tokens?: string;
  readonly ttft?: string;
  readonly duration?: string;
  readonly before?: string;
  readonly live?: 'yes';
  readonly request?: string;
}

export function readRequestsSearch(raw: RawSearch): RequestsSearch {
  return compact({
    range: readChoice(raw, 'range', RANGE_NAMES),
    from: readDay(raw, 'from'),
    to: readDay(raw, 'to'),
    q: readText(raw, 'q'),
    status: readChoice(raw, 'status', ['ok', 'error']),
    model: readText(raw, 'model'),
    key: readText(raw, 'key'),
    provider: readText(raw, 'provider'),
    stream: readChoice(raw, 'stream', ['yes', 'no']),
    finish: readText(raw, 'finish'),
    error: readText(raw, 'error'),
    cost: readText(raw, 'cost'),
    tokens: readText(raw, 'tokens'),
    ttft: readText(raw, 'ttft'),
    duration: readText(raw, 'duration'),
    before: readText(raw, 'before'),
    live: readChoice(raw, 'live', ['yes']),
    request: readText(raw, 'request'),
  });
}

/** A change of the address; undefined takes something out. */
export type RequestsChange = { readonly [Name in keyof RequestsSearch]?: RequestsSearch[Name] | undefined };

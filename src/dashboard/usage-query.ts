import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, MINUTE_MS, QUARTER_HOUR_MS } from '../durations.ts';
import type { RequestFilter } from '../usage/request-filter.ts';
import { byKeys, readTags, type KeyTags } from '../usage/tags.ts';
import { REQUEST_STATUSES } from '../usage/vocabulary.ts';
import type { Span } from '../usage/zone.ts';
import { isZone } from '../zone-clock.ts';
import { usdShape } from './validate.ts';

/** Schemas for the query parameters of reports and lists. */

const EARLIEST_MS = Date.UTC(2020, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
const DAYS_MAX = 800;
const VALUES_MAX = 50;
const VALUE_CHARACTERS_MAX = 200;

const moment = z.coerce.number().int().min(EARLIEST_MS).max(LATEST_MS);

/** `from` and `to` in milliseconds since 1970; `to` is exclusive. */
export const spanShape = { from: moment, to: moment };

/** The name of a time zone, such as `Europe/Berlin`. */
export const zoneShape = z.string().max(64).refine(isZone, 'is not the name of a time zone').default('UTC');

/** One or more values, separated by commas. */
export const listShape = z
  .string()
  .transform((text) => text.split(',').filter((value) => value !== ''))
  .pipe(z.array(z.string().max(VALUE_CHARACTERS_MAX)).max(VALUES_MAX))
  .optional();

/** Returns the range, widened to whole quarters of an hour, the resolution of the stored sums. */
export function readSpan({ from, to }: { readonly from: number; readonly to: number }): Span {
  return { fromMs: Math.floor(from / QUARTER_HOUR_MS) * QUARTER_HOUR_MS, toMs: Math.ceil(to / QUARTER_HOUR_MS) * QUARTER_HOUR_MS };
}

/** Returns the range, widened to whole minutes. */
export function readMinuteSpan({ from, to }: { readonly from: number; readonly to: number }): Span {
  return { fromMs: Math.floor(from / MINUTE_MS) * MINUTE_MS, toMs: Math.ceil(to / MINUTE_MS) * MINUTE_MS };
}

/** Whether a range runs forwards and is not too long. */
export function isRange({ from, to }: { readonly from: number; readonly to: number }): boolean {
  return from < to && to - from <= DAYS_MAX * DAY_MS;
}

/** The error for a query that fails `isRange`. */
export const RANGE_MESSAGE = { message: `must be after from, and by at most ${DAYS_MAX} days`, path: ['to'] };

const count = z.coerce.number().int().min(0).max(1_000_000_000_000).optional();
const usd = usdShape('is not an amount in USD').optional();

/** One value, not a list: the ids that clients give their users may contain commas. */
export const endUserShape = z.string().min(1).max(VALUE_CHARACTERS_MAX).optional();

/** Every filter for requests. */
export const filterShape = {
  ...spanShape,
  model: listShape,
  key: listShape,
  provider: listShape,
  tag: listShape,
  end_user: endUserShape,
  id: z.string().max(VALUE_CHARACTERS_MAX).optional(),
  status: z.enum(REQUEST_STATUSES).optional(),
  stream: z.enum(['yes', 'no']).optional(),
  served: z.string().max(VALUE_CHARACTERS_MAX).optional(),
  finish: z.string().max(VALUE_CHARACTERS_MAX).optional(),
  error: z.string().max(VALUE_CHARACTERS_MAX).optional(),
  /** Minimums; the same names with `Max` are maximums. */
  cost: usd,
  costMax: usd,
  tokens: count,
  tokensMax: count,
  ttft: count,
  ttftMax: count,
  duration: count,
  durationMax: count,
};

/** The validated filter parameters. */
export type FilterQuery = z.output<z.ZodObject<typeof filterShape>>;

const PAGE_ROWS_MAX = 200;

/** The page of a list of requests, and its length. */
export const requestsPageShape = {
  before: z
    .string()
    .regex(/^req_[0-9a-z]{1,60}$/u, 'is not the id of a request')
    .optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_ROWS_MAX).default(50),
};

const STATUS_MAX = 599;

/** Filters for refused requests. */
export const refusedShape = {
  ...requestsPageShape,
  id: filterShape.id,
  key: z.string().min(1).max(VALUE_CHARACTERS_MAX).optional(),
  status: z.coerce.number().int().min(400).max(STATUS_MAX).optional(),
};

/** Converts query parameters to a filter for one account, with its tags resolved. The range is exact to the millisecond. */
export async function resolveFilter(database: Kysely<Tables>, accountId: string, query: FilterQuery): Promise<RequestFilter> {
  return readFilter(query, query.tag === undefined ? undefined : await readTags(database, accountId));
}

/** Converts query parameters to a filter. Absent parameters do not filter. */
export function readFilter(query: Partial<FilterQuery> & Pick<FilterQuery, 'from' | 'to'>, tags: KeyTags = new Map()): RequestFilter {
  const { model, key, provider, tag } = query;
  return {
    ...byKeys({ ...(model && { model }), ...(key && { key }), ...(provider && { provider }), tag }, tags),
    span: { fromMs: query.from, toMs: query.to },
    requestId: query.id,
    endUser: query.end_user,
    status: query.status,
    isStreaming: query.stream === undefined ? undefined : query.stream === 'yes',
    servedModel: query.served,
    finish: query.finish,
    errorCode: query.error,
    costMin: query.cost,
    costMax: query.costMax,
    tokensMin: query.tokens,
    tokensMax: query.tokensMax,
    firstTokenMsMin: query.ttft,
    firstTokenMsMax: query.ttftMax,
    durationMsMin: query.duration,
    durationMsMax: query.durationMax,
  };
}

import { sql, type RawBuilder } from 'kysely';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { DIMENSIONS } from './dimensions.ts';
import { inFilter, type SumsFilter } from './sums.ts';
import type { RequestStatus } from './vocabulary.ts';
import type { Span } from './zone.ts';

/** Which requests to find. Undefined fields match everything. */
export interface RequestFilter extends SumsFilter {
  readonly span: Span;
  readonly requestId?: string | undefined;
  /** The end user they were made for. */
  readonly endUser?: string | undefined;
  readonly status?: RequestStatus | undefined;
  readonly isStreaming?: boolean | undefined;
  /** The model's name at the provider that answered. */
  readonly servedModel?: string | undefined;
  readonly finish?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly costMin?: Nanos | undefined;
  readonly costMax?: Nanos | undefined;
  readonly tokensMin?: number | undefined;
  readonly tokensMax?: number | undefined;
  readonly firstTokenMsMin?: number | undefined;
  readonly firstTokenMsMax?: number | undefined;
  readonly durationMsMin?: number | undefined;
  readonly durationMsMax?: number | undefined;
}

const TOKENS = sql`input_tokens + cached_input_tokens + cache_write_tokens + output_tokens`;

/** Converts the filter, without its time range, to a condition on usage rows. Undefined when it matches everything. */
export function toCondition(filter: RequestFilter): RawBuilder<unknown> | undefined {
  const conditions = [
    ...(hasDimensions(filter) ? [inFilter(filter)] : []),
    optional(filter.status, ofOutcome),
    optional(filter.endUser, (name) => sql`end_user = ${name}`),
    optional(filter.isStreaming, (isStreaming) => sql`is_streaming = ${isStreaming ? 1 : 0}`),
    optional(filter.servedModel, (model) => sql`served_model = ${model}`),
    optional(filter.finish, (finish) => sql`finish_reason = ${finish}`),
    optional(filter.errorCode, (code) => sql`error_code = ${code}`),
    optional(filter.costMin, (cost) => sql`cost >= ${cost}`),
    optional(filter.costMax, (cost) => sql`cost <= ${cost}`),
    optional(filter.tokensMin, (tokens) => sql`${TOKENS} >= ${tokens}`),
    optional(filter.tokensMax, (tokens) => sql`${TOKENS} <= ${tokens}`),
    optional(filter.firstTokenMsMin, (ms) => sql`first_token_ms >= ${ms}`),
    optional(filter.firstTokenMsMax, (ms) => sql`first_token_ms <= ${ms}`),
    optional(filter.durationMsMin, (ms) => sql`duration_ms >= ${ms}`),
    optional(filter.durationMsMax, (ms) => sql`duration_ms <= ${ms}`),
  ].filter((condition) => condition !== undefined);
  return conditions.length === 0 ? undefined : sql.join(conditions, sql` AND `);
}

/**
 * Converts the part of the filter that roll-ups can answer to a condition on them. It is true for every quarter hour that may contain a
 * match.
 */
export function toRollupCondition(filter: RequestFilter): RawBuilder<unknown> {
  const isFailure = filter.status === 'error' || filter.errorCode !== undefined;
  const conditions = [inFilter(filter), ...(isFailure ? [sql`errors > 0`] : [])];
  return sql.join(conditions, sql` AND `);
}

/** Returns the part of the filter that concerns the dimensions of roll-ups. */
export function dimensionsOf({ model, key, provider }: SumsFilter): SumsFilter {
  return { ...(model && { model }), ...(key && { key }), ...(provider && { provider }) };
}

/** Returns whether roll-ups can narrow down this filter. */
export function isRolledUp(filter: RequestFilter): boolean {
  return filter.status === 'error' || filter.errorCode !== undefined || hasDimensions(filter);
}

/** Returns the parts of the filter that only usage rows can answer, under the names shown to people. */
export function unrolledParts(filter: RequestFilter): string[] {
  const parts = {
    id: filter.requestId,
    status: rolledStatus(filter) === filter.status ? undefined : filter.status,
    end_user: filter.endUser,
    stream: filter.isStreaming,
    served: filter.servedModel,
    finish: filter.finish,
    error: filter.errorCode,
    cost: filter.costMin ?? filter.costMax,
    tokens: filter.tokensMin ?? filter.tokensMax,
    ttft: filter.firstTokenMsMin ?? filter.firstTokenMsMax,
    duration: filter.durationMsMin ?? filter.durationMsMax,
  };
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
}

/** Serialises the filter, to store it with work that continues after a restart. */
export function writeFilter(filter: RequestFilter): string {
  return JSON.stringify(filter, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** Parses a serialised filter. */
export function parseFilter(text: string): RequestFilter {
  const { costMin, costMax, ...filter } = JSON.parse(text) as Omit<RequestFilter, 'costMin' | 'costMax'> &
    Partial<Record<'costMin' | 'costMax', string>>;
  return {
    ...filter,
    ...(costMin !== undefined && { costMin: asNanos(BigInt(costMin)) }),
    ...(costMax !== undefined && { costMax: asNanos(BigInt(costMax)) }),
  };
}

/** Returns the status if roll-ups know it: they only know what failed and what did not. */
export function rolledStatus({ status }: RequestFilter): 'ok' | 'error' | undefined {
  return status === 'ok' || status === 'error' ? status : undefined;
}

function ofOutcome(status: RequestStatus): RawBuilder<unknown> {
  if (status === 'ok') return sql`outcome <> 'failed'`;
  return sql`outcome = ${status === 'error' ? 'failed' : status}`;
}

function hasDimensions(filter: SumsFilter): boolean {
  return DIMENSIONS.some((dimension) => filter[dimension] !== undefined);
}

function optional<Value>(value: Value | undefined, write: (value: Value) => RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  return value === undefined ? undefined : write(value);
}

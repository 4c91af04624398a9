import { sql, type RawBuilder } from 'kysely';
import type { Nanos } from '../ledger/money.ts';
import { DIMENSIONS, inFilter, type SumsFilter } from './sums.ts';
import type { RequestStatus } from './vocabulary.ts';
import type { Span } from './zone.ts';

/** Which requests are meant; what is undefined does not matter. */
export interface RequestFilter extends SumsFilter {
  readonly span: Span;
  readonly requestId?: string | undefined;
  /** For whom they were made. */
  readonly endUser?: string | undefined;
  readonly status?: RequestStatus | undefined;
  readonly isStreaming?: boolean | undefined;
  readonly finish?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly costMin?: Nanos | undefined;
  readonly tokensMin?: number | undefined;
  readonly firstTokenMsMin?: number | undefined;
  readonly durationMsMin?: number | undefined;
}

/** The filter as a condition on usage rows, but for its range; undefined when it lets everything through. */
export function toCondition(filter: RequestFilter): RawBuilder<unknown> | undefined {
  const conditions = [
    ...(hasDimensions(filter) ? [inFilter(filter)] : []),
    given(filter.status, ofOutcome),
    given(filter.endUser, (name) => sql`end_user = ${name}`),
    given(filter.isStreaming, (isStreaming) => sql`is_streaming = ${isStreaming ? 1 : 0}`),
    given(filter.finish, (finish) => sql`finish_reason = ${finish}`),
    given(filter.errorCode, (code) => sql`error_code = ${code}`),
    given(filter.costMin, (cost) => sql`cost >= ${cost}`),
    given(filter.tokensMin, (tokens) => sql`input_tokens + cached_input_tokens + cache_write_tokens + output_tokens >= ${tokens}`),
    given(filter.firstTokenMsMin, (ms) => sql`first_token_ms >= ${ms}`),
    given(filter.durationMsMin, (ms) => sql`duration_ms >= ${ms}`),
  ].filter((condition) => condition !== undefined);
  return conditions.length === 0 ? undefined : sql.join(conditions, sql` AND `);
}

/** The part of the filter that roll-ups can answer, as a condition on them: true for every quarter in which there may be a request. */
export function toRollupCondition(filter: RequestFilter): RawBuilder<unknown> {
  const isFailure = filter.status === 'error' || filter.errorCode !== undefined;
  const conditions = [inFilter(filter), ...(isFailure ? [sql`errors > 0`] : [])];
  return sql.join(conditions, sql` AND `);
}

/** True when roll-ups know more than that there were requests. */
export function isRolledUp(filter: RequestFilter): boolean {
  return filter.status === 'error' || filter.errorCode !== undefined || hasDimensions(filter);
}

/** The parts of the filter that only the rows themselves can answer, by the names that people know them by. */
export function unrolledParts(filter: RequestFilter): string[] {
  const parts = {
    status: rolledStatus(filter) === filter.status ? undefined : filter.status,
    end_user: filter.endUser,
    stream: filter.isStreaming,
    finish: filter.finish,
    error: filter.errorCode,
    cost: filter.costMin,
    tokens: filter.tokensMin,
    ttft: filter.firstTokenMsMin,
    duration: filter.durationMsMin,
  };
  return Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
}

/** The status as far as roll-ups tell it: they know what failed and what did not. */
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

function given<Value>(value: Value | undefined, write: (value: Value) => RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  return value === undefined ? undefined : write(value);
}

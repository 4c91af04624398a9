import { sql, type RawBuilder } from 'kysely';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { DIMENSIONS } from './dimensions.ts';
import { inFilter, type SumsFilter } from './sums.ts';
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
  /** What the model is called at the provider that answered. */
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

/** The filter as a condition on usage rows, but for its range; undefined when it lets everything through. */
export function toCondition(filter: RequestFilter): RawBuilder<unknown> | undefined {
  const conditions = [
    ...(hasDimensions(filter) ? [inFilter(filter)] : []),
    given(filter.status, ofOutcome),
    given(filter.endUser, (name) => sql`end_user = ${name}`),
    given(filter.isStreaming, (isStreaming) => sql`is_streaming = ${isStreaming ? 1 : 0}`),
    given(filter.servedModel, (model) => sql`served_model = ${model}`),
    given(filter.finish, (finish) => sql`finish_reason = ${finish}`),
    given(filter.errorCode, (code) => sql`error_code = ${code}`),
    given(filter.costMin, (cost) => sql`cost >= ${cost}`),
    given(filter.costMax, (cost) => sql`cost <= ${cost}`),
    given(filter.tokensMin, (tokens) => sql`${TOKENS} >= ${tokens}`),
    given(filter.tokensMax, (tokens) => sql`${TOKENS} <= ${tokens}`),
    given(filter.firstTokenMsMin, (ms) => sql`first_token_ms >= ${ms}`),
    given(filter.firstTokenMsMax, (ms) => sql`first_token_ms <= ${ms}`),
    given(filter.durationMsMin, (ms) => sql`duration_ms >= ${ms}`),
    given(filter.durationMsMax, (ms) => sql`duration_ms <= ${ms}`),
  ].filter((condition) => condition !== undefined);
  return conditions.length === 0 ? undefined : sql.join(conditions, sql` AND `);
}

/** The part of the filter that roll-ups can answer, as a condition on them: true for every quarter in which there may be a request. */
export function toRollupCondition(filter: RequestFilter): RawBuilder<unknown> {
  const isFailure = filter.status === 'error' || filter.errorCode !== undefined;
  const conditions = [inFilter(filter), ...(isFailure ? [sql`errors > 0`] : [])];
  return sql.join(conditions, sql` AND `);
}

/** The part of the filter that is about what roll-ups count by. */
export function dimensionsOf({ model, key, provider }: SumsFilter): SumsFilter {
  return { ...(model && { model }), ...(key && { key }), ...(provider && { provider }) };
}

/** True when roll-ups know more than that there were requests. */
export function isRolledUp(filter: RequestFilter): boolean {
  return filter.status === 'error' || filter.errorCode !== undefined || hasDimensions(filter);
}

/** The parts of the filter that only the rows themselves can answer, by the names that people know them by. */
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

/** The filter as a text, to be kept with work that goes on after a restart. */
export function writeFilter(filter: RequestFilter): string {
  return JSON.stringify(filter, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** The filter of such a text. */
export function parseFilter(text: string): RequestFilter {
  const { costMin, costMax, ...filter } = JSON.parse(text) as Omit<RequestFilter, 'costMin' | 'costMax'> &
    Partial<Record<'costMin' | 'costMax', string>>;
  return {
    ...filter,
    ...(costMin !== undefined && { costMin: asNanos(BigInt(costMin)) }),
    ...(costMax !== undefined && { costMax: asNanos(BigInt(costMax)) }),
  };
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

import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import { readOptional } from '../database/columns.ts';
import type { Tables } from '../database/tables.ts';
import { MINUTE_MS } from '../durations.ts';
import { ERRORS } from '../errors.ts';
import { idAt } from '../ids.ts';
import type { Span } from './zone.ts';

/** Success rate and times, counted from the requests themselves. Requests whose client left or was at fault are not counted. */
export interface Measure {
  readonly requests: number;
  readonly succeeded: number;
  /** Undefined when nothing was streamed. */
  readonly firstTokenP50Ms: number | undefined;
  readonly firstTokenP95Ms: number | undefined;
}

/** A provider's results in a short time slot. */
export interface Slot {
  readonly startMs: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** The health of one provider, with its results over time. */
export interface ProviderHealth extends Measure {
  /** Only slots in which there were requests. */
  readonly slots: readonly Slot[];
}

/** The health of all models and providers in a time span. */
export interface Health extends Span {
  readonly all: Measure;
  readonly models: ReadonlyMap<string, Measure>;
  readonly providers: ReadonlyMap<string, ProviderHealth>;
}

/** The length of a slot. */
export const SLOT_MS = 30 * MINUTE_MS;
/** Errors that say nothing about the provider: the client made a mistake or ran into one of our limits. */
export const CLIENT_ERRORS: readonly string[] = Object.entries(ERRORS)
  .filter(([name, { status }]) => status < 500 && name !== 'provider_rate_limited')
  .map(([name]) => name);

/** Measures every model and provider in a time span. The database counts, so memory does not grow with the number of requests. */
export async function measureHealth(database: Kysely<Tables>, span: Span): Promise<Health> {
  const [answers, slots, failures] = await Promise.all([
    countAnswers(database, span),
    countSlots(database, span),
    countFailures(database, span),
  ]);
  const models = Map.groupBy(answers, ({ model }) => model);
  const providers = Map.groupBy(answers, ({ provider }) => provider);
  const names = new Set([...providers.keys(), ...failures.map(({ provider }) => provider)].filter((name) => name !== ''));
  return {
    ...span,
    all: measure(answers),
    models: new Map([...models].map(([model, counts]) => [model, measure(counts)])),
    providers: new Map(
      [...names].map((name) => {
        const failed = failures.filter(({ provider }) => provider === name);
        const own = measure(providers.get(name) ?? []);
        return [
          name,
          {
            ...own,
            requests: own.requests + addCounts(failed),
            slots: mergeSlots([...slots.filter(({ provider }) => provider === name), ...failed]),
          },
        ];
      }),
    ),
  };
}

interface Count {
  readonly model: string;
  readonly provider: string;
  readonly isSuccess: boolean;
  readonly firstTokenMs: number | undefined;
  readonly count: number;
}

/** Rounds times down to steps of about one per cent, which is fine enough for percentiles. */
export function roundedMs(column: 'first_token_ms' | 'duration_ms'): RawBuilder<bigint | null> {
  const ms = sql.ref(column);
  return sql`CASE WHEN ${ms} < 100 THEN ${ms} WHEN ${ms} < 1000 THEN ${ms} - ${ms} % 10 ELSE ${ms} - ${ms} % 100 END`;
}

async function countAnswers(database: Kysely<Tables>, span: Span): Promise<Count[]> {
  const rows = await usageIn(database, span)
    .select(['model', 'provider', 'outcome', roundedMs('first_token_ms').as('step'), database.fn.countAll().as('count')])
    .groupBy(['model', 'provider', 'outcome', 'step'])
    .execute();
  return rows.map(({ model, provider, outcome, step, count }) => ({
    model,
    provider,
    isSuccess: outcome === 'completed',
    firstTokenMs: readOptional(step),
    count: Number(count),
  }));
}

interface SlotCount {
  readonly provider: string;
  readonly startMs: number;
  readonly isSuccess: boolean;
  readonly count: number;
}

const SLOT_START = sql<bigint>`usage.created_at - usage.created_at % ${sql.lit(SLOT_MS)}`;

async function countSlots(database: Kysely<Tables>, span: Span): Promise<SlotCount[]> {
  const rows = await usageIn(database, span)
    .select(['provider', 'outcome', SLOT_START.as('start'), database.fn.countAll().as('count')])
    .groupBy(['provider', 'outcome', 'start'])
    .execute();
  return rows.map(({ provider, outcome, start, count }) => ({
    provider,
    startMs: Number(start),
    isSuccess: outcome === 'completed',
    count: Number(count),
  }));
}

/** Counts provider calls that failed before the first token, whether another provider answered or none. */
async function countFailures(database: Kysely<Tables>, span: Span): Promise<SlotCount[]> {
  const rows = await attemptsIn(database, span)
    .innerJoin('usage', 'usage.request_id', 'attempts.request_id')
    .select(['attempts.provider', SLOT_START.as('start'), database.fn.countAll().as('count')])
    .groupBy(['attempts.provider', 'start'])
    .execute();
  return rows.map(({ provider, start, count }) => ({ provider, startMs: Number(start), isSuccess: false, count: Number(count) }));
}

/** Selects the requests that count. Ids grow with time, so a time span is a range of the primary key. */
export function usageIn(database: Kysely<Tables>, { fromMs, toMs }: Span): SelectQueryBuilder<Tables, 'usage', object> {
  return database
    .selectFrom('usage')
    .where('request_id', '>', idAt('req', fromMs))
    .where('request_id', '<', idAt('req', toMs))
    .where('outcome', 'in', ['completed', 'failed'])
    .where((where) => where.or([where('error_code', 'is', null), where('error_code', 'not in', CLIENT_ERRORS)]));
}

/** Selects the provider calls that failed before the first token and count. */
export function attemptsIn(database: Kysely<Tables>, { fromMs, toMs }: Span): SelectQueryBuilder<Tables, 'attempts', object> {
  return database
    .selectFrom('attempts')
    .where('attempts.request_id', '>', idAt('req', fromMs))
    .where('attempts.request_id', '<', idAt('req', toMs))
    .where('attempts.outcome', 'not in', CLIENT_ERRORS);
}

function measure(counts: readonly Count[]): Measure {
  const times = counts
    .flatMap(({ firstTokenMs, count }) => (firstTokenMs === undefined ? [] : [{ ms: firstTokenMs, count }]))
    .sort((first, second) => first.ms - second.ms);
  return {
    requests: addCounts(counts),
    succeeded: addCounts(counts.filter(({ isSuccess }) => isSuccess)),
    firstTokenP50Ms: percentile(times, 0.5),
    firstTokenP95Ms: percentile(times, 0.95),
  };
}

/** Adds up counts. */
export function addCounts(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** Returns the time that this part of the requests does not exceed. `times` must be sorted. */
export function percentile(times: readonly { readonly ms: number; readonly count: number }[], part: number): number | undefined {
  const wanted = Math.ceil(addCounts(times) * part);
  let seen = 0;
  for (const { ms, count } of times) {
    seen += count;
    if (seen >= wanted) return ms;
  }
  return undefined;
}

function mergeSlots(counts: readonly SlotCount[]): Slot[] {
  const slots = Map.groupBy(counts, ({ startMs }) => startMs);
  return [...slots]
    .map(([startMs, some]) => ({
      startMs,
      succeeded: addCounts(some.filter(({ isSuccess }) => isSuccess)),
      failed: addCounts(some.filter(({ isSuccess }) => !isSuccess)),
    }))
    .sort((first, second) => first.startMs - second.startMs);
}

import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { addCounts, attemptsIn, percentile, roundedMs, usageIn } from './health.ts';
import type { Span } from './zone.ts';

/** The median and the 95th percentile of some times. */
export interface Times {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** The results of a provider's calls. Requests whose client left or was at fault are not counted. */
export interface ProviderRecord {
  readonly calls: number;
  /** By the name of the gate's own error. */
  readonly failures: readonly { readonly kind: string; readonly count: number }[];
  readonly firstToken: Times | undefined;
  readonly duration: Times | undefined;
}

/** Measures every provider in a time span. The database counts. */
export async function measureProviders(database: Kysely<Tables>, span: Span): Promise<ReadonlyMap<string, ProviderRecord>> {
  const [answers, attempts, firstTokens, durations] = await Promise.all([
    countAnswers(database, span),
    countAttempts(database, span),
    countTimes(database, span, 'first_token_ms'),
    countTimes(database, span, 'duration_ms'),
  ]);
  const counts = Map.groupBy([...answers, ...attempts], ({ provider }) => provider);
  return new Map(
    [...counts].map(([provider, some]) => [
      provider,
      {
        calls: addCounts(some),
        failures: failuresIn(some),
        firstToken: timesOf(firstTokens.get(provider)),
        duration: timesOf(durations.get(provider)),
      },
    ]),
  );
}

interface Count {
  readonly provider: string;
  /** Undefined for successful calls. */
  readonly kind: string | undefined;
  readonly count: number;
}

async function countAnswers(database: Kysely<Tables>, span: Span): Promise<Count[]> {
  const rows = await usageIn(database, span)
    .where('provider', '<>', '')
    .select(['provider', 'outcome', 'error_code', database.fn.countAll().as('count')])
    .groupBy(['provider', 'outcome', 'error_code'])
    .execute();
  return rows.map(({ provider, outcome, error_code: code, count }) => ({
    provider,
    kind: outcome === 'completed' ? undefined : (code ?? outcome),
    count: Number(count),
  }));
}

/** Counts calls that failed before the first token, whether another provider answered or none. */
async function countAttempts(database: Kysely<Tables>, span: Span): Promise<Count[]> {
  const rows = await attemptsIn(database, span)
    .select(['provider', 'outcome', database.fn.countAll().as('count')])
    .groupBy(['provider', 'outcome'])
    .execute();
  return rows.map(({ provider, outcome, count }) => ({ provider, kind: outcome, count: Number(count) }));
}

function failuresIn(counts: readonly Count[]): ProviderRecord['failures'] {
  const kinds = Map.groupBy(counts, ({ kind }) => kind);
  return [...kinds]
    .flatMap(([kind, some]) => (kind === undefined ? [] : [{ kind, count: addCounts(some) }]))
    .sort((first, second) => second.count - first.count);
}

interface TimeCount {
  readonly ms: number;
  readonly count: number;
}

async function countTimes(
  database: Kysely<Tables>,
  span: Span,
  column: 'first_token_ms' | 'duration_ms',
): Promise<ReadonlyMap<string, readonly TimeCount[]>> {
  const rows = await usageIn(database, span)
    .where('outcome', '=', 'completed')
    .where(column, 'is not', null)
    .select(['provider', roundedMs(column).as('step'), database.fn.countAll().as('count')])
    .groupBy(['provider', 'step'])
    .orderBy('step')
    .execute();
  const times = rows.map(({ provider, step, count }) => ({ provider, ms: Number(step), count: Number(count) }));
  return Map.groupBy(times, ({ provider }) => provider);
}

function timesOf(times: readonly TimeCount[] = []): Times | undefined {
  const [p50Ms, p95Ms] = [percentile(times, 0.5), percentile(times, 0.95)];
  return p50Ms === undefined || p95Ms === undefined ? undefined : { p50Ms, p95Ms };
}

/** A provider's newest failure. */
export interface LastFailure {
  readonly kind: string;
  readonly model: string;
  readonly atMs: number;
}

/** Returns each provider's newest failure in a time span, before or after the first token. */
export async function readLastFailures(database: Kysely<Tables>, span: Span): Promise<ReadonlyMap<string, LastFailure>> {
  const newest = sql<string>`MAX(request_id)`.as('request_id');
  const [before, after] = await Promise.all([
    attemptsIn(database, span).select(['provider', newest]).groupBy('provider').execute(),
    usageIn(database, span)
      .where('outcome', '=', 'failed')
      .where('provider', '<>', '')
      .select(['provider', newest])
      .groupBy('provider')
      .execute(),
  ]);
  const failures = new Map<string, LastFailure>();
  for (const { provider, request_id: id } of [...before, ...after]) {
    const failure = await readFailure(database, provider, id);
    const known = failures.get(provider);
    if (failure !== undefined && (known === undefined || known.atMs < failure.atMs)) failures.set(provider, failure);
  }
  return failures;
}

async function readFailure(database: Kysely<Tables>, provider: string, requestId: string): Promise<LastFailure | undefined> {
  const row = await database
    .selectFrom('usage')
    .leftJoin('attempts', (join) => join.onRef('attempts.request_id', '=', 'usage.request_id').on('attempts.provider', '=', provider))
    .select(['usage.model', 'usage.created_at', 'usage.error_code', 'attempts.outcome'])
    .where('usage.request_id', '=', requestId)
    .orderBy('attempts.n', 'desc')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { kind: row.outcome ?? row.error_code ?? 'failed', model: row.model, atMs: Number(row.created_at) };
}

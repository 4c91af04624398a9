import type { OpenDatabase } from '../database/connect.ts';
import { DAY_MS } from '../durations.ts';
import { idAt } from '../ids.ts';
import { addFound, readSums, type Sums } from './sums.ts';
import { nextQuarter, startOf, startOfDayBefore, type Span } from './zone.ts';

/** The sums of a period, and those of the previous period up to the same point. */
export interface Period {
  readonly span: Span;
  readonly formerSpan: Span;
  readonly sums: Sums;
  readonly former: Sums;
}

/** The periods shown on the overview. */
export interface Periods {
  readonly today: Period;
  readonly week: Period;
  readonly month: Period;
}

const WEEK_DAYS = 7;

/** Reads today, the last seven days and this month, each with the previous period for as long as the current one has lasted. */
export async function readPeriods(
  database: OpenDatabase,
  { accountId, zone, nowMs }: { readonly accountId: string; readonly zone: string; readonly nowMs: number },
): Promise<Periods> {
  // The current quarter hour counts, here and in the previous period.
  const toMs = nextQuarter(nowMs);
  const spans = [...calendarSpans('day', toMs, zone), ...weekSpans(toMs, zone), ...calendarSpans('month', toMs, zone)];
  const found = await readSums(database, { accountId, spans, by: [], filter: {} });
  const period = (index: number): Period => {
    const [span, formerSpan] = [spans[index], spans[index + 1]];
    if (span === undefined || formerSpan === undefined) throw new Error('every period has a previous one');
    return { span, formerSpan, sums: addFound(found[index]), former: addFound(found[index + 1]) };
  };
  return { today: period(0), week: period(2), month: period(4) };
}

function calendarSpans(period: 'day' | 'month', toMs: number, zone: string): readonly [Span, Span] {
  const fromMs = startOf(period, toMs - 1, zone);
  const formerMs = startOf(period, fromMs - 1, zone);
  return [{ fromMs, toMs }, formerUpTo(formerMs, fromMs, toMs)];
}

/** Seven calendar days with today as the last, as the range of that name on the other pages. */
function weekSpans(toMs: number, zone: string): readonly [Span, Span] {
  const fromMs = startOfDayBefore(WEEK_DAYS - 1, toMs - 1, zone);
  return [{ fromMs, toMs }, formerUpTo(startOfDayBefore(WEEK_DAYS, fromMs, zone), fromMs, toMs)];
}

/** Returns a previous period as long as the current one has lasted. A short month ends earlier. */
function formerUpTo(formerMs: number, fromMs: number, toMs: number): Span {
  return { fromMs: formerMs, toMs: Math.min(fromMs, formerMs + (toMs - fromMs)) };
}

/** Times to the first token of an account's latest requests. */
export interface FirstTokens {
  /** How many requests the figures are based on. */
  readonly count: number;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

const LATEST_ROWS = 1000;

/** Reads the latest thousand requests of the last 30 days. Only those with a first token count. */
export async function readFirstTokens({ kysely }: OpenDatabase, accountId: string, nowMs: number): Promise<FirstTokens> {
  const rows = await kysely
    .selectFrom('usage')
    .select('first_token_ms')
    .where('account_id', '=', accountId)
    .where('request_id', '>=', idAt('req', nowMs - 30 * DAY_MS))
    .orderBy('request_id', 'desc')
    .limit(LATEST_ROWS)
    .execute();
  const waits = rows.flatMap(({ first_token_ms: ms }) => (ms === null ? [] : [Number(ms)])).sort((one, other) => one - other);
  const at = (part: number): number | undefined => waits[Math.ceil(waits.length * part) - 1];
  return { count: waits.length, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** Returns how many days the money lasts at the rate of the last seven days. Undefined when nothing was spent in them. */
export function runwayDays(available: bigint, { sums, span }: Pick<Period, 'sums' | 'span'>): number | undefined {
  if (sums.cost === 0n) return undefined;
  if (available <= 0n) return 0;
  // Today is not over yet, so the rate is that of the time that has passed.
  return Number((available * BigInt(span.toMs - span.fromMs) * 10n) / (sums.cost * BigInt(DAY_MS))) / 10;
}

/** Returns the values of a dimension in a span, the most expensive first. */
export async function readTop(
  database: OpenDatabase,
  { accountId, span, group, rowsMax }: { accountId: string; span: Span; group: 'model' | 'key'; rowsMax: number },
): Promise<readonly { readonly name: string; readonly sums: Sums }[]> {
  const [found = []] = await readSums(database, { accountId, spans: [span], by: [group], filter: {} });
  const all = found.map(({ values: [name = ''], sums }) => ({ name, sums }));
  all.sort((one, other) => Number(other.sums.cost - one.sums.cost) || other.sums.requests - one.sums.requests);
  return all.slice(0, rowsMax);
}

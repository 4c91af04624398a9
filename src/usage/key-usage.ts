import type { OpenDatabase } from '../database/connect.ts';
import { DAY_MS } from '../durations.ts';
import { NO_MONEY, type Nanos } from '../ledger/money.ts';
import { totalTokens } from '../tokens.ts';
import { addFound, readSums, type FoundSums, type Sums } from './sums.ts';
import { cutIntoBuckets, nextQuarter, startOf, startOfDayBefore } from './zone.ts';

/** A key's spending today, this month (by a zone's calendar) and in total, and its recent requests. */
export interface KeySpend {
  readonly today: Nanos;
  readonly month: Nanos;
  readonly total: Nanos;
  /** In the last 24 hours, to the quarter hour. */
  readonly requestsLastDay: number;
}

/** A key's usage on one calendar day of a zone. */
export interface DailyUsage {
  readonly dayStartMs: number;
  readonly cost: Nanos;
  readonly requests: number;
  readonly errors: number;
  readonly tokens: number;
}

/** The spending of a key that was never used. */
export const NO_SPEND: KeySpend = { today: NO_MONEY, month: NO_MONEY, total: NO_MONEY, requestsLastDay: 0 };

/** Reads the spending of every key of an account that has any, or of one key. */
export async function readSpend(
  database: OpenDatabase,
  accountId: string,
  { zone, keyId }: { readonly zone: string; readonly keyId?: string | undefined },
): Promise<Map<string, KeySpend>> {
  const nowMs = Date.now();
  const toMs = nextQuarter(nowMs);
  const starts = [startOf('day', nowMs, zone), startOf('month', nowMs, zone), nextQuarter(nowMs - DAY_MS), 0];
  const spans = starts.map((fromMs) => ({ fromMs, toMs }));
  const filter = keyId === undefined ? {} : { key: [keyId] };
  const found = await readSums(database, { accountId, spans, by: ['key'], filter, sums: ['cost', 'requests'] });
  const [today, month, lastDay, ever] = found.map(byKey);
  return new Map(
    [...(ever ?? [])].map(([id, { cost: total }]) => [
      id,
      {
        today: today?.get(id)?.cost ?? NO_MONEY,
        month: month?.get(id)?.cost ?? NO_MONEY,
        total,
        requestsLastDay: lastDay?.get(id)?.requests ?? 0,
      },
    ]),
  );
}

function byKey(found: readonly FoundSums[]): Map<string, Sums> {
  return new Map(found.map(({ values: [id = ''], sums }) => [id, sums]));
}

/** Reads the last days of a key's usage, ending with today. */
export async function readDays(
  database: OpenDatabase,
  key: { readonly accountId: string; readonly id: string },
  { zone, days }: { readonly zone: string; readonly days: number },
): Promise<DailyUsage[]> {
  const nowMs = Date.now();
  const spans = cutIntoBuckets({ fromMs: startOfDayBefore(days - 1, nowMs, zone), toMs: nextQuarter(nowMs) }, 'day', zone);
  const found = await readSums(database, { accountId: key.accountId, spans, by: [], filter: { key: [key.id] } });
  return spans.map((span, n) => {
    const sums = addFound(found[n]);
    const { cost, requests, errors } = sums;
    return { dayStartMs: span.fromMs, cost, requests, errors, tokens: totalTokens(sums) };
  });
}

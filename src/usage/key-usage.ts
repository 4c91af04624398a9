import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { windowStartMs } from '../ledger/budget.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import { gridName, UTC_DAYS } from './grid.ts';
import { readUntil } from './past.ts';

/** What a key has spent: in this day and month of the UTC calendar, and ever. */
export interface KeySpend {
  readonly today: Nanos;
  readonly month: Nanos;
  readonly total: Nanos;
}

/** What a key was used for on one day of the UTC calendar. */
export interface DayOfUse {
  readonly dayStartMs: number;
  readonly cost: Nanos;
  readonly requests: number;
  readonly errors: number;
  readonly tokens: number;
}

export const NO_SPEND: KeySpend = { today: NO_MONEY, month: NO_MONEY, total: NO_MONEY };

const DAY_MS = 86_400_000;

/** The spend of every key of an account that has any; with an id, of that key only. */
export async function readSpend(database: Kysely<Tables>, accountId: string, keyId?: string): Promise<Map<string, KeySpend>> {
  const nowMs = Date.now();
  const { rows } = await sql<{ key_id: string; today: bigint; month: bigint; total: bigint }>`
    SELECT key_id, ${costSince(windowStartMs('day', nowMs))} AS today, ${costSince(windowStartMs('month', nowMs))} AS month, SUM(cost) AS total
    FROM (${await keyDays(database, { accountId, id: keyId, fromMs: 0 })}) AS days GROUP BY key_id`.execute(database);
  return new Map(rows.map((row) => [row.key_id, { today: asNanos(row.today), month: asNanos(row.month), total: asNanos(row.total) }]));
}

function costSince(fromMs: number): RawBuilder<unknown> {
  return sql`SUM(CASE WHEN day >= ${BigInt(fromMs)} THEN cost ELSE 0 END)`;
}

/** The days on which a key was used, of the last so many, oldest first. */
export async function readDays(
  database: Kysely<Tables>,
  key: { readonly accountId: string; readonly id: string },
  days: number,
): Promise<DayOfUse[]> {
  const fromMs = windowStartMs('day', Date.now()) - (days - 1) * DAY_MS;
  const { rows } = await sql<DayRow>`${await keyDays(database, { ...key, fromMs })} ORDER BY 1`.execute(database);
  return rows.map((row) => ({
    dayStartMs: Number(row.day),
    cost: asNanos(row.cost),
    requests: Number(row.requests),
    errors: Number(row.errors),
    tokens: Number(row.tokens),
  }));
}

interface KeyDays {
  readonly accountId: string;
  readonly id: string | undefined;
  readonly fromMs: number;
}

interface DayRow {
  readonly day: bigint;
  readonly cost: bigint;
  readonly requests: bigint;
  readonly errors: bigint;
  readonly tokens: bigint;
}

/** What each key was used for on each day since a moment: the past from the sums of its days, what came after from the roll-ups. */
async function keyDays(database: Kysely<Tables>, { accountId, id, fromMs }: KeyDays): Promise<RawBuilder<unknown>> {
  const untilMs = await readUntil(database, accountId, UTC_DAYS);
  const ofKey = id === undefined ? sql`1 = 1` : sql`key_id = ${id}`;
  const sums = sql`SUM(cost) AS cost, SUM(requests) AS requests, SUM(errors) AS errors,
    SUM(input_tokens + cached_input_tokens + cache_write_tokens + output_tokens) AS tokens`;
  return sql`
    SELECT start_at AS day, key_id, ${sums} FROM usage_past WHERE account_id = ${accountId} AND grid = ${gridName(UTC_DAYS)}
      AND dimension = 'key' AND start_at >= ${BigInt(fromMs)} AND start_at < ${BigInt(untilMs)} AND ${ofKey} GROUP BY 1, 2
    UNION ALL
    SELECT quarter_hour - quarter_hour % ${sql.lit(DAY_MS)} AS day, key_id, ${sums} FROM usage_rollups
    WHERE account_id = ${accountId} AND quarter_hour >= ${BigInt(Math.max(fromMs, untilMs))} AND ${ofKey} GROUP BY 1, 2`;
}

/** How many requests a key has made since a moment, to the quarter of an hour. */
export async function countRequests(
  database: Kysely<Tables>,
  key: { readonly accountId: string; readonly id: string },
  sinceMs: number,
): Promise<number> {
  const { requests } = await database
    .selectFrom('usage_rollups')
    .select(({ fn }) => fn.sum<bigint | null>('requests').as('requests'))
    .where('account_id', '=', key.accountId)
    .where('key_id', '=', key.id)
    .where('quarter_hour', '>=', BigInt(sinceMs))
    .executeTakeFirstOrThrow();
  return Number(requests ?? 0n);
}

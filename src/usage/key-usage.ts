import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { windowStartMs } from '../ledger/budget.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';

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

/** The spend of every key of an account that has any, from the roll-ups; with an id, of that key only. */
export async function readSpend(database: Kysely<Tables>, accountId: string, keyId?: string): Promise<Map<string, KeySpend>> {
  const nowMs = Date.now();
  const rows = await database
    .selectFrom('usage_rollups')
    .select(['key_id', costSince(windowStartMs('day', nowMs)).as('today'), costSince(windowStartMs('month', nowMs)).as('month')])
    .select(({ fn }) => fn.sum<bigint>('cost').as('total'))
    .where('account_id', '=', accountId)
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
    .groupBy('key_id')
    .execute();
  return new Map(rows.map((row) => [row.key_id, { today: asNanos(row.today), month: asNanos(row.month), total: asNanos(row.total) }]));
}

/** The days on which a key was used, of the last so many, oldest first. */
export async function readDays(
  database: Kysely<Tables>,
  key: { readonly accountId: string; readonly id: string },
  days: number,
): Promise<DayOfUse[]> {
  const day = sql<bigint>`quarter_hour - quarter_hour % ${sql.lit(DAY_MS)}`;
  const rows = await database
    .selectFrom('usage_rollups')
    .select(({ fn }) => [
      day.as('day'),
      fn.sum<bigint>('cost').as('cost'),
      fn.sum<bigint>('requests').as('requests'),
      fn.sum<bigint>('errors').as('errors'),
      sql<bigint>`SUM(input_tokens + cached_input_tokens + cache_write_tokens + output_tokens)`.as('tokens'),
    ])
    .where('account_id', '=', key.accountId)
    .where('key_id', '=', key.id)
    .where('quarter_hour', '>=', BigInt(windowStartMs('day', Date.now()) - (days - 1) * DAY_MS))
    .groupBy(day)
    .orderBy(day)
    .execute();
  return rows.map((row) => ({
    dayStartMs: Number(row.day),
    cost: asNanos(row.cost),
    requests: Number(row.requests),
    errors: Number(row.errors),
    tokens: Number(row.tokens),
  }));
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

function costSince(fromMs: number): RawBuilder<bigint> {
  return sql<bigint>`SUM(CASE WHEN quarter_hour >= ${BigInt(fromMs)} THEN cost ELSE 0 END)`;
}

import { sql, type Kysely, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DIMENSIONS, type Dimension } from './sums.ts';

const HOUR_MS = 3_600_000;
/** Between the arrival of a request and its hold lie the reading of its body and the clocks of several nodes; never an hour. */
const SETTLED_AFTER_MS = HOUR_MS;
/** Little enough that nobody who waits to write notices. */
const CHUNK_MS = 6 * HOUR_MS;

/** What became of a turn: `behind` when there is more to sum up. */
export type Advance = 'behind' | 'done';

/**
 * Sums up the next past hours of an account, for reports to read instead of the quarter-hours. An hour is past when
 * nothing can be added to it any more: it ended long enough ago for everything that came in then to have its hold, and no
 * hold of then is open. Whoever settles needs a hold, so from then on its roll-ups stay as they are.
 */
export async function advanceHours(database: Kysely<Tables>, accountId: string, nowMs: number): Promise<Advance> {
  return database.transaction().execute(async (transaction) => {
    const untilMs = await lockUntil(transaction, accountId);
    const pastMs = await findPast(transaction, accountId, nowMs);
    if (untilMs === undefined || untilMs >= pastMs) return 'done';
    const toMs = Math.min(untilMs + CHUNK_MS, pastMs);
    for (const dimension of DIMENSIONS) await sumUp(transaction, { accountId, dimension, fromMs: untilMs, toMs });
    await transaction.updateTable('usage_hours_until').set({ until: toMs }).where('account_id', '=', accountId).execute();
    return toMs < pastMs ? 'behind' : 'done';
  });
}

/** Where the sums end, locked against others who do the same. Undefined for an account that has no requests yet. */
async function lockUntil(transaction: Transaction<Tables>, accountId: string): Promise<number | undefined> {
  // An update that changes nothing, for both databases know how to wait for one.
  const locked = await transaction
    .updateTable('usage_hours_until')
    .set((expression) => ({ until: expression.ref('until') }))
    .where('account_id', '=', accountId)
    .returning('until')
    .executeTakeFirst();
  if (locked !== undefined) return Number(locked.until);
  const first = await transaction
    .selectFrom('usage_rollups')
    .select('quarter_hour')
    .where('account_id', '=', accountId)
    .orderBy('quarter_hour')
    .limit(1)
    .executeTakeFirst();
  if (first === undefined) return undefined;
  const untilMs = Math.floor(Number(first.quarter_hour) / HOUR_MS) * HOUR_MS;
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('usage_hours_until')
    .values({ account_id: accountId, until: untilMs })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  // Somebody else was faster, and has it locked.
  return numInsertedOrUpdatedRows === 1n ? untilMs : undefined;
}

async function findPast(transaction: Transaction<Tables>, accountId: string, nowMs: number): Promise<number> {
  const oldest = await transaction
    .selectFrom('holds')
    .select(({ fn }) => fn.min('created_at').as('created_at'))
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  const settledMs = nowMs - SETTLED_AFTER_MS;
  const openMs = oldest?.created_at === null || oldest?.created_at === undefined ? settledMs : Number(oldest.created_at);
  return Math.floor(Math.min(settledMs, openMs) / HOUR_MS) * HOUR_MS;
}

interface Work {
  readonly accountId: string;
  readonly dimension: Dimension;
  readonly fromMs: number;
  readonly toMs: number;
}

const COLUMNS: Readonly<Record<Dimension, string>> = { model: 'model', key: 'key_id', provider: 'provider' };

async function sumUp(transaction: Transaction<Tables>, { accountId, dimension, fromMs, toMs }: Work): Promise<void> {
  const hour = sql`quarter_hour - quarter_hour % ${sql.lit(HOUR_MS)}`;
  const value = sql.ref(COLUMNS[dimension]);
  await sql`INSERT INTO usage_hours (account_id, dimension, hour, value, requests, errors, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms)
    SELECT ${accountId}, ${dimension}, ${hour}, ${value}, SUM(requests), SUM(errors), SUM(input_tokens), SUM(cached_input_tokens),
      SUM(cache_write_tokens), SUM(output_tokens), SUM(reasoning_tokens), SUM(cost), SUM(first_token_ms), SUM(first_token_count),
      SUM(duration_ms)
    FROM usage_rollups WHERE account_id = ${accountId} AND quarter_hour >= ${fromMs} AND quarter_hour < ${toMs}
    GROUP BY ${hour}, ${value}`.execute(transaction);
}

import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * Sums of past hours and days in one table, and the balance of every wallet after its past hours. They are written in the background
 * and can be made anew from roll-ups and transfers at any time, so what was summed up before is not carried over.
 */
export async function pastSums(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS: readonly string[] = [
  'DROP TABLE usage_hours',
  'DROP TABLE usage_hours_until',
  // A grid is the hours of UTC, or days that begin so long after midnight. Sums by one dimension leave the others empty.
  `CREATE TABLE usage_past (
    account_id TEXT NOT NULL, grid TEXT NOT NULL, dimension TEXT NOT NULL CHECK (dimension IN ('model', 'key', 'provider', 'every')),
    start_at INTEGER NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, requests INTEGER NOT NULL,
    errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, cost INTEGER NOT NULL, first_token_ms INTEGER NOT NULL,
    first_token_count INTEGER NOT NULL, duration_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, grid, dimension, start_at, key_id, model, provider)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE usage_past_until (
    account_id TEXT NOT NULL, grid TEXT NOT NULL, until INTEGER NOT NULL, asked_at INTEGER NOT NULL, PRIMARY KEY (account_id, grid)
  ) STRICT, WITHOUT ROWID`,
  // What a wallet held when everything before this moment had been booked.
  `CREATE TABLE balance_marks (
    account_id TEXT NOT NULL, before_at INTEGER NOT NULL, balance INTEGER NOT NULL, PRIMARY KEY (account_id, before_at)
  ) STRICT, WITHOUT ROWID`,
];

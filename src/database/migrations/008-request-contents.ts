import type { Kysely } from 'kysely';
import { raiseChangesOf, runStatements, type Dialect } from '../dialect.ts';

/**
 * What the usage and request pages need: roll-ups in the order of time, sums by the hour, an index of the rare movements,
 * contents of requests for the accounts that ask for them, and views that people save.
 */
export async function requestContents(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...ROLLUPS_BY_TIME, ...TABLES, ...INDEXES]);
  await runStatements(database, dialect, raiseChangesOf('content_logging', dialect));
}

const SUMS = `requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, cost INTEGER NOT NULL,
    first_token_ms INTEGER NOT NULL, first_token_count INTEGER NOT NULL, duration_ms INTEGER NOT NULL`;

/**
 * Time before key and model: a report reads a range of time, and the rows that running requests raise stand side by side.
 * The ledger's statements name the same five columns, so they need no change.
 */
const ROLLUPS_BY_TIME: readonly string[] = [
  'ALTER TABLE usage_rollups RENAME TO unsorted_rollups',
  `CREATE TABLE usage_rollups (
    account_id TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, quarter_hour INTEGER NOT NULL,
    ${SUMS}, PRIMARY KEY (account_id, quarter_hour, key_id, model, provider)
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO usage_rollups SELECT account_id, key_id, model, provider, quarter_hour, requests, errors, input_tokens, cached_input_tokens,
     cache_write_tokens, output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms
   FROM unsorted_rollups ORDER BY account_id, quarter_hour`,
  'DROP TABLE unsorted_rollups',
];

const TABLES: readonly string[] = [
  // Sums of past hours by one dimension at a time: src/usage/hours.ts says when an hour is past.
  `CREATE TABLE usage_hours (
    account_id TEXT NOT NULL, dimension TEXT NOT NULL CHECK (dimension IN ('model', 'key', 'provider')), hour INTEGER NOT NULL,
    value TEXT NOT NULL, ${SUMS}, PRIMARY KEY (account_id, dimension, hour, value)
  ) STRICT, WITHOUT ROWID`,
  'CREATE TABLE usage_hours_until (account_id TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL) STRICT',
  // Accounts without a row have content logging off.
  `CREATE TABLE content_logging (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id), days INTEGER NOT NULL CHECK (days BETWEEN 1 AND 365)
  ) STRICT`,
  `CREATE TABLE request_contents (
    request_id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL,
    is_cut INTEGER NOT NULL, delete_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE saved_views (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), page TEXT NOT NULL, name TEXT NOT NULL,
    search TEXT NOT NULL, created_at INTEGER NOT NULL, UNIQUE (account_id, page, name)
  ) STRICT`,
];

const INDEXES: readonly string[] = [
  'CREATE INDEX request_contents_by_end ON request_contents (delete_at)',
  // With the amount in it, the balance at any line of a statement is a sum that never leaves the index.
  'DROP INDEX transfers_by_debit',
  'CREATE INDEX transfers_by_debit ON transfers (debit, created_at, id, amount)',
  // Charges for requests are not in it, so it costs them nothing.
  "CREATE INDEX transfers_but_usage ON transfers (debit, created_at, id) WHERE kind <> 'usage'",
];

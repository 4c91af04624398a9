import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * Files of many requests, made in the background and kept for some days. And sums of past days by two of key, model and provider: the
 * past is summed up anew for them, in the background as ever.
 */
export async function exportsAndPairs(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...EXPORTS, ...PAIRS]);
}

const EXPORTS: readonly string[] = [
  `CREATE TABLE export_jobs (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), person_id TEXT NOT NULL,
    format TEXT NOT NULL CHECK (format IN ('csv', 'jsonl')), zone TEXT NOT NULL, query TEXT NOT NULL, filter TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'dropped')), before_id TEXT, oldest_at INTEGER NOT NULL,
    row_count INTEGER NOT NULL DEFAULT 0, byte_count INTEGER NOT NULL DEFAULT 0, chunk_count INTEGER NOT NULL DEFAULT 0, problem TEXT,
    tries INTEGER NOT NULL DEFAULT 0, worker TEXT, seen_at INTEGER NOT NULL, created_at INTEGER NOT NULL, finished_at INTEGER,
    expires_at INTEGER
  ) STRICT`,
  // Two that are asked for at the same moment cannot both be the one of their account.
  "CREATE UNIQUE INDEX export_jobs_open ON export_jobs (account_id) WHERE state IN ('waiting', 'running')",
  'CREATE INDEX export_jobs_by_account ON export_jobs (account_id, created_at)',
  // In the database, where every node finds it, and in the transaction that notes how far the work is.
  `CREATE TABLE export_chunks (
    job_id TEXT NOT NULL REFERENCES export_jobs (id) ON DELETE CASCADE, n INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (job_id, n)
  ) STRICT`,
];

const PAIRS: readonly string[] = [
  'DROP TABLE usage_past',
  // How far sums and marks reach is one thing, so they begin anew together.
  'DELETE FROM usage_past_until',
  'DELETE FROM balance_marks',
  `CREATE TABLE usage_past (
    account_id TEXT NOT NULL, grid TEXT NOT NULL,
    dimension TEXT NOT NULL CHECK (dimension IN ('model', 'key', 'provider', 'model_key', 'model_provider', 'key_provider', 'every')),
    start_at INTEGER NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, requests INTEGER NOT NULL,
    errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, cost INTEGER NOT NULL, first_token_ms INTEGER NOT NULL,
    first_token_count INTEGER NOT NULL, duration_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, grid, dimension, start_at, key_id, model, provider)
  ) STRICT, WITHOUT ROWID`,
];

import type { Kysely } from 'kysely';
import { raiseChangesOf, runStatements, type Dialect } from '../dialect.ts';

/** Accounts, wallets, keys and usage. Money is an integer count of nano-dollars, time of milliseconds. */
export async function initial(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, TABLES);
  if (dialect === 'postgres') await runStatements(database, dialect, [RAISE_CHANGES]);
  const tables = ['accounts', 'credits', 'api_keys', 'key_secrets'];
  await runStatements(
    database,
    dialect,
    tables.flatMap((table) => raiseChangesOf(table, dialect)),
  );
}

const TABLES: readonly string[] = [
  `CREATE TABLE accounts (
    id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
    is_admin INTEGER NOT NULL, created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE wallets (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id), balance INTEGER NOT NULL, held INTEGER NOT NULL CHECK (held >= 0)
  ) STRICT`,
  `CREATE TABLE credits (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), amount INTEGER NOT NULL,
    reason TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT`,
  // Request ids grow with time, so the table is written at its end: one page per commit instead of many.
  `CREATE TABLE usage (
    request_id TEXT PRIMARY KEY, account_id TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, is_estimated INTEGER NOT NULL,
    cost INTEGER NOT NULL, held INTEGER NOT NULL, outcome TEXT NOT NULL, duration_ms INTEGER NOT NULL, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL, models TEXT,
    requests_per_minute INTEGER, tokens_per_minute INTEGER, concurrent INTEGER,
    expires_at INTEGER, created_at INTEGER NOT NULL, deleted_at INTEGER
  ) STRICT`,
  'CREATE INDEX api_keys_by_account ON api_keys (account_id)',
  `CREATE TABLE key_secrets (
    hash TEXT PRIMARY KEY, key_id TEXT NOT NULL REFERENCES api_keys (id), prefix TEXT NOT NULL, last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER
  ) STRICT`,
  'CREATE INDEX key_secrets_by_key ON key_secrets (key_id)',
  'CREATE TABLE changes (id INTEGER PRIMARY KEY CHECK (id = 1), counter INTEGER NOT NULL) STRICT',
  'INSERT INTO changes (id, counter) VALUES (1, 0)',
];

const RAISE_CHANGES = `CREATE FUNCTION raise_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE changes SET counter = counter + 1; RETURN NULL; END $$`;

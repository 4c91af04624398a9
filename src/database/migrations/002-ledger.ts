import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';
import { LEDGER_FUNCTIONS } from './002-ledger-postgres.ts';

/**
 * The ledger: transfers instead of a balance that is overwritten, holds that survive a crash, grants, budgets, prices by
 * version, roll-ups. What was charged and credited before becomes transfers; sums do not change.
 */
export async function ledger(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...OLD_TABLES_ASIDE, ...TABLES, ...INDEXES, ...CARRY_OVER, ...DROP_OLD_TABLES]);
  if (dialect === 'postgres') await runStatements(database, dialect, LEDGER_FUNCTIONS);
}

const OLD_TABLES_ASIDE = ['ALTER TABLE usage RENAME TO old_usage', 'ALTER TABLE wallets RENAME TO old_wallets'];

const TABLES: readonly string[] = [
  `CREATE TABLE wallets (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
    credits_posted INTEGER NOT NULL CHECK (credits_posted >= 0), debits_posted INTEGER NOT NULL CHECK (debits_posted >= 0),
    debits_pending INTEGER NOT NULL CHECK (debits_pending >= 0)
  ) STRICT`,
  // One row is one debit and one credit of the same amount: an unbalanced entry cannot be written. The id is the
  // idempotency key: whatever is repeated meets it and changes nothing.
  `CREATE TABLE transfers (
    id TEXT NOT NULL PRIMARY KEY, debit TEXT NOT NULL, credit TEXT NOT NULL, amount INTEGER NOT NULL CHECK (amount > 0),
    kind TEXT NOT NULL, ref TEXT NOT NULL, created_at INTEGER NOT NULL, CHECK (debit <> credit)
  ) STRICT, WITHOUT ROWID`,
  // Open holds only: a tiny table. The counts are the progress of a stream.
  `CREATE TABLE holds (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, price_version INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 0), node_id TEXT NOT NULL, created_at INTEGER NOT NULL,
    progress INTEGER NOT NULL DEFAULT 0, provider TEXT NOT NULL DEFAULT '', input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_input_tokens INTEGER NOT NULL DEFAULT 0, cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
  // Request ids grow with time, so the table is written at its end: one page per commit instead of many.
  `CREATE TABLE usage (
    request_id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, is_estimated INTEGER NOT NULL,
    price_version INTEGER NOT NULL, cost INTEGER NOT NULL CHECK (cost >= 0), held INTEGER NOT NULL, outcome TEXT NOT NULL,
    first_token_ms INTEGER, duration_ms INTEGER NOT NULL, attempts INTEGER NOT NULL, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE attempts (
    request_id TEXT NOT NULL, n INTEGER NOT NULL, provider TEXT NOT NULL, outcome TEXT NOT NULL, duration_ms INTEGER NOT NULL,
    PRIMARY KEY (request_id, n)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE usage_rollups (
    account_id TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, quarter_hour INTEGER NOT NULL, requests INTEGER NOT NULL,
    errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, cost INTEGER NOT NULL, PRIMARY KEY (account_id, key_id, model, quarter_hour)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE grants (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id),
    kind TEXT NOT NULL CHECK (kind IN ('paid', 'plan', 'promo', 'manual')), amount INTEGER NOT NULL CHECK (amount > 0),
    remaining INTEGER NOT NULL CHECK (remaining >= 0 AND remaining <= amount), expires_at INTEGER, source TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE key_budgets (
    key_id TEXT NOT NULL REFERENCES api_keys (id), period TEXT NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
    amount INTEGER NOT NULL CHECK (amount >= 0), spent INTEGER NOT NULL, held INTEGER NOT NULL, window_start INTEGER NOT NULL,
    PRIMARY KEY (key_id, period)
  ) STRICT`,
  `CREATE TABLE prices (
    model TEXT NOT NULL, version INTEGER NOT NULL, item TEXT NOT NULL, pico INTEGER NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (model, version, item)
  ) STRICT`,
  'CREATE TABLE nodes (node_id TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL, heartbeat INTEGER NOT NULL) STRICT',
  `CREATE TABLE promo_codes (
    id TEXT NOT NULL PRIMARY KEY, code_hash TEXT NOT NULL UNIQUE, used INTEGER NOT NULL, max_uses INTEGER NOT NULL, created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE promo_redemptions (
    code_id TEXT NOT NULL REFERENCES promo_codes (id), account_id TEXT NOT NULL REFERENCES accounts (id), created_at INTEGER NOT NULL,
    PRIMARY KEY (code_id, account_id)
  ) STRICT`,
  `CREATE TABLE payments (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), provider_ref TEXT UNIQUE, status TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0), refunded INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE audit (
    id TEXT NOT NULL PRIMARY KEY, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
];

const INDEXES = [
  'CREATE INDEX transfers_by_debit ON transfers (debit, created_at, id)',
  "CREATE INDEX transfers_by_credit ON transfers (credit, created_at, id) WHERE credit <> 'revenue'",
  'CREATE INDEX usage_by_account ON usage (account_id, request_id)',
  'CREATE INDEX grants_by_account ON grants (account_id) WHERE remaining > 0',
  'CREATE INDEX grants_by_expiry ON grants (expires_at) WHERE remaining > 0',
];

/** Version 0 of a price stands for charges made before prices were recorded: they cannot be recomputed. */
const CARRY_OVER = [
  `INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
   SELECT id, 'promo_expense', 'wallet:' || account_id, amount, 'manual', reason, created_at FROM credits WHERE amount > 0`,
  `INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
   SELECT id, 'wallet:' || account_id, 'promo_expense', -amount, 'manual', reason, created_at FROM credits WHERE amount < 0`,
  `INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
   SELECT request_id, 'wallet:' || account_id, 'revenue', cost, 'usage', '', created_at + duration_ms FROM old_usage WHERE cost > 0`,
  `INSERT INTO usage SELECT request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens,
     output_tokens, reasoning_tokens, is_estimated, 0, cost, held, outcome, NULL, duration_ms, 1, created_at FROM old_usage`,
  `INSERT INTO usage_rollups SELECT account_id, key_id, model, created_at - created_at % 900000, COUNT(*),
     SUM(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END), SUM(input_tokens), SUM(cached_input_tokens), SUM(cache_write_tokens),
     SUM(output_tokens), SUM(cost) FROM old_usage GROUP BY account_id, key_id, model, created_at - created_at % 900000`,
  `INSERT INTO wallets SELECT account_id,
     (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE credit = 'wallet:' || account_id),
     (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE debit = 'wallet:' || account_id), 0 FROM old_wallets`,
  `INSERT INTO grants SELECT 'grant:before:' || account_id, account_id, 'manual', credits_posted - debits_posted,
     credits_posted - debits_posted, NULL, 'before:' || account_id, 0 FROM wallets WHERE credits_posted > debits_posted`,
];

const DROP_OLD_TABLES = ['DROP TABLE old_usage', 'DROP TABLE old_wallets', 'DROP TABLE credits'];

import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * The people who sign in to the dashboard, their sessions and what they sign in with. The columns of `people` to
 * `passkeys` are what the library for accounts asks for, under our names; a test compares.
 */
export async function people(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(
    database,
    dialect,
    STATEMENTS.map((statement) => (dialect === 'sqlite' ? toSqlite(statement) : toPostgres(statement))),
  );
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE people (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT UNIQUE REFERENCES accounts (id), name TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
    email_verified BOOLEAN NOT NULL, image TEXT, two_factor_enabled BOOLEAN, zone TEXT, number_format TEXT,
    created_at TIME NOT NULL, updated_at TIME NOT NULL
  ) STRICT`,
  `CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY, person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, token TEXT NOT NULL UNIQUE,
    expires_at TIME NOT NULL, address TEXT, user_agent TEXT, created_at TIME NOT NULL, updated_at TIME NOT NULL
  ) STRICT`,
  'CREATE INDEX sessions_by_person ON sessions (person_id)',
  'CREATE INDEX sessions_by_use ON sessions (updated_at)',
  `CREATE TABLE credentials (
    id TEXT NOT NULL PRIMARY KEY, person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, provider_id TEXT NOT NULL,
    provider_account_id TEXT NOT NULL, password TEXT, access_token TEXT, refresh_token TEXT, id_token TEXT, scope TEXT,
    access_token_expires_at TIME, refresh_token_expires_at TIME, created_at TIME NOT NULL, updated_at TIME NOT NULL
  ) STRICT`,
  'CREATE INDEX credentials_by_person ON credentials (person_id)',
  `CREATE TABLE verifications (
    id TEXT NOT NULL PRIMARY KEY, identifier TEXT NOT NULL, value TEXT NOT NULL, expires_at TIME NOT NULL,
    created_at TIME NOT NULL, updated_at TIME NOT NULL
  ) STRICT`,
  'CREATE INDEX verifications_by_identifier ON verifications (identifier)',
  `CREATE TABLE two_factors (
    id TEXT NOT NULL PRIMARY KEY, person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, secret TEXT NOT NULL,
    backup_codes TEXT NOT NULL, verified BOOLEAN, failed_verification_count COUNT, locked_until TIME
  ) STRICT`,
  'CREATE INDEX two_factors_by_person ON two_factors (person_id)',
  `CREATE TABLE passkeys (
    id TEXT NOT NULL PRIMARY KEY, person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, name TEXT, public_key TEXT NOT NULL,
    credential_id TEXT NOT NULL, counter COUNT NOT NULL, device_type TEXT NOT NULL, backed_up BOOLEAN NOT NULL, transports TEXT,
    aaguid TEXT, created_at TIME
  ) STRICT`,
  'CREATE INDEX passkeys_by_person ON passkeys (person_id)',
  'CREATE INDEX passkeys_by_credential ON passkeys (credential_id)',
  // What all nodes share, such as the secret that signs cookies.
  'CREATE TABLE service_secrets (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT',
  // Tries of one kind from one place or at one account, and until when there may be no more.
  `CREATE TABLE auth_rate_limits (
    name TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL, window_ends_at INTEGER NOT NULL, strikes INTEGER NOT NULL
  ) STRICT`,
  'CREATE INDEX auth_rate_limits_by_end ON auth_rate_limits (window_ends_at)',
  // Links that let somebody in once: the first operator's, and invitations. Of the token, only the hash is kept.
  `CREATE TABLE invitations (
    token_hash TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('operator', 'person')), email TEXT,
    expires_at INTEGER NOT NULL, used_at INTEGER, created_at INTEGER NOT NULL
  ) STRICT`,
  // Outlives the account, so that the credit for signing up is given to an address once.
  'CREATE TABLE sign_up_credits (email_hash TEXT NOT NULL PRIMARY KEY, created_at INTEGER NOT NULL) STRICT',
  // Accounts that were given their first key, so that it is given once.
  'CREATE TABLE first_keys (account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id), created_at INTEGER NOT NULL) STRICT',
  'ALTER TABLE accounts ADD COLUMN closed_at BIGINT',
];

/** The library keeps times as text in the embedded database, and true and false as 1 and 0. */
function toSqlite(statement: string): string {
  return statement
    .replace(/\bTIME\b/g, 'TEXT')
    .replace(/\bBOOLEAN\b/g, 'INTEGER')
    .replace(/\bCOUNT\b/g, 'INTEGER')
    .replace(/\bBIGINT\b/g, 'INTEGER');
}

/** Counts that the library reads must come as numbers, not as the large integers that money is. */
function toPostgres(statement: string): string {
  return statement.replace(/\bTIME\b/g, 'TIMESTAMPTZ').replace(/\bCOUNT\b/g, 'INT');
}

import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** What a key may do beyond its limits, when each secret was last used, and which budgets have refused a request. */
export async function keyRules(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  'ALTER TABLE api_keys ADD COLUMN denied_models TEXT',
  'ALTER TABLE api_keys ADD COLUMN addresses TEXT',
  'ALTER TABLE api_keys ADD COLUMN tags TEXT',
  'ALTER TABLE api_keys ADD COLUMN disabled_at INTEGER',
  // Every change of a key begins by writing this: it decides whether there is such a key, and locks it.
  'ALTER TABLE api_keys ADD COLUMN updated_at INTEGER',
  // Not columns of the secrets: a change of those makes every server forget all keys that it knows.
  `CREATE TABLE key_uses (
    secret_hash TEXT NOT NULL PRIMARY KEY, used_at INTEGER NOT NULL, address_range TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  // Not a column of the budgets: those belong to the ledger's transactions.
  `CREATE TABLE budget_refusals (
    key_id TEXT NOT NULL, period TEXT NOT NULL, refused_at INTEGER NOT NULL, PRIMARY KEY (key_id, period)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX audit_by_subject ON audit (subject, created_at)',
];

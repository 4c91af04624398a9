import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** What people want to be told about, where, what has fired, and what is to be delivered. */
export async function alerts(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  `CREATE TABLE alert_rules (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), kind TEXT NOT NULL, threshold INTEGER NOT NULL,
    by_mail INTEGER NOT NULL, by_webhook INTEGER NOT NULL, created_at INTEGER NOT NULL
  ) STRICT`,
  'CREATE INDEX alert_rules_by_account ON alert_rules (account_id)',
  // A row is an alert that has fired and is not over. Whoever inserts it sends; whoever finds it over deletes it.
  `CREATE TABLE alert_states (
    rule_id TEXT NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE, subject TEXT NOT NULL, fired_at INTEGER NOT NULL,
    PRIMARY KEY (rule_id, subject)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE alert_webhooks (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id), url TEXT NOT NULL, secret TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT`,
  // Made in the transaction of the state, so that nothing fires without being delivered.
  `CREATE TABLE alert_deliveries (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), kind TEXT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('mail', 'webhook')), title TEXT NOT NULL, payload TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('waiting', 'sent', 'failed')), tries INTEGER NOT NULL, next_try_at INTEGER NOT NULL,
    problem TEXT, created_at INTEGER NOT NULL, finished_at INTEGER
  ) STRICT`,
  'CREATE INDEX alert_deliveries_by_account ON alert_deliveries (account_id, created_at)',
  "CREATE INDEX alert_deliveries_waiting ON alert_deliveries (next_try_at) WHERE status = 'waiting'",
];

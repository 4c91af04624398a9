import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * Operators read payments and the events about them from the newest on, by state, and find what is wrong without reading all. An event
 * counts how often it was tried. And there is a text that everybody who is signed in sees.
 */
export async function paymentsByTime(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  'CREATE INDEX payments_by_time ON payments (created_at, id)',
  'CREATE INDEX payments_by_status ON payments (status, created_at, id)',
  "CREATE INDEX payments_misspent ON payments (status, paid_at) WHERE reason <> ''",
  "CREATE INDEX payment_disputes ON payment_reversals (created_at) WHERE kind = 'dispute' AND state = 'standing'",
  'ALTER TABLE webhook_events ADD COLUMN tries INTEGER NOT NULL DEFAULT 1',
  'CREATE INDEX webhook_events_by_time ON webhook_events (created_at, event_id)',
  'CREATE INDEX webhook_events_by_outcome ON webhook_events (outcome, created_at, event_id)',
  'CREATE INDEX webhook_events_by_payment ON webhook_events (payment_id)',
  `CREATE TABLE banners (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL, tone TEXT NOT NULL CHECK (tone IN ('info', 'warning')),
    created_at INTEGER NOT NULL
  ) STRICT`,
];

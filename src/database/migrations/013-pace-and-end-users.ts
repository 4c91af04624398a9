import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';
import { PACE_FUNCTIONS } from './013-pace-and-end-users-postgres.ts';

/** What a key does at its limits and by whose calendar they count, and for whom each request was made. */
export async function paceAndEndUsers(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
  if (dialect === 'postgres') await runStatements(database, dialect, PACE_FUNCTIONS);
}

const STATEMENTS = [
  `ALTER TABLE api_keys ADD COLUMN at_limit TEXT NOT NULL DEFAULT 'stop' CHECK (at_limit IN ('stop', 'slow_down'))`,
  `ALTER TABLE api_keys ADD COLUMN limit_zone TEXT NOT NULL DEFAULT 'UTC'`,
  // Copies of the two above: a hold looks at the budgets of its key and asks nobody else.
  'ALTER TABLE key_budgets ADD COLUMN is_paced INTEGER NOT NULL DEFAULT 0',
  `ALTER TABLE key_budgets ADD COLUMN zone TEXT NOT NULL DEFAULT 'UTC'`,
  // Null for the total, which has no end; 0 is worked out by the next hold, and so is what nodes of the version before insert.
  'ALTER TABLE key_budgets ADD COLUMN window_end INTEGER DEFAULT 0',
  `UPDATE key_budgets SET window_end = NULL WHERE period = 'total'`,
  'ALTER TABLE usage ADD COLUMN end_user TEXT',
];

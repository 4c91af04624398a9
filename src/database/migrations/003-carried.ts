import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** What providers want back with the next turn of a conversation, kept for a day: see src/carried/. */
export async function carried(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  `CREATE TABLE carried (
    account_id TEXT NOT NULL, tool_call_id TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, tool_call_id)
  ) STRICT`,
  'CREATE INDEX carried_by_time ON carried (created_at)',
];

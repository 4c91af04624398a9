import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** What each account came to in past hours and days, for who runs the service. Written in the background, and kept for as long as it is looked at. */
export async function accountPast(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE account_past (
    grid TEXT NOT NULL, start_at INTEGER NOT NULL, account_id TEXT NOT NULL, requests INTEGER NOT NULL, cost INTEGER NOT NULL,
    PRIMARY KEY (grid, start_at, account_id)
  ) STRICT, WITHOUT ROWID`,
];

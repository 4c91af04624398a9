import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Requests that were refused before a provider was asked: the newest of each account. Ids grow with time, so they tell when. */
export async function refusals(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  `CREATE TABLE refusals (
    request_id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL, key_id TEXT NOT NULL, status INTEGER NOT NULL,
    error_code TEXT NOT NULL, param TEXT, message TEXT NOT NULL, model TEXT, is_streaming INTEGER NOT NULL, others INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX refusals_by_account ON refusals (account_id, request_id)',
];

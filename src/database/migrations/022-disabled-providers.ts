import type { Kysely } from 'kysely';
import { raiseChangesOf, runStatements, type Dialect } from '../dialect.ts';

/** Providers that operators took out of service for now. Running servers hear of it as they hear of keys. */
export async function disabledProviders(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [TABLE, ...raiseChangesOf('disabled_providers', dialect)]);
}

const TABLE = `CREATE TABLE disabled_providers (
    provider TEXT NOT NULL PRIMARY KEY, disabled_by TEXT NOT NULL, disabled_at INTEGER NOT NULL
  ) STRICT`;

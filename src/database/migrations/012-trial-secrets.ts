import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Secrets that the dashboard makes for one call with a key, to try it out. They are no part of its rotation. */
export async function trialSecrets(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, ['ALTER TABLE key_secrets ADD COLUMN is_trial INTEGER NOT NULL DEFAULT 0']);
}

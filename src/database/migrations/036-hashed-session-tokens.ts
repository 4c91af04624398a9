import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Ends all sessions, whose tokens were stored as they are. New ones are stored as hashes. */
export async function hashedSessionTokens(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, ['DELETE FROM sessions']);
}

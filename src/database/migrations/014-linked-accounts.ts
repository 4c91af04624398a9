import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Whom a provider knows is one person here, also when two people link the same account at the same moment. */
export async function linkedAccounts(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, ['CREATE UNIQUE INDEX credentials_by_provider ON credentials (provider_id, provider_account_id)']);
}

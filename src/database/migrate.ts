import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Tables } from './tables.ts';
import { initial } from './migrations/001-initial.ts';

/** Brings the schema up to date, forward only, and gives the names of the migrations that were run. */
export async function migrate(database: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => ({ '001-initial': initial }) },
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw new Error('The database schema could not be brought up to date', { cause: error });
  return results.map((result) => result.migrationName);
}

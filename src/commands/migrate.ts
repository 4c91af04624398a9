import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { migrate } from '../database/migrate.ts';
import { openKysely } from '../database/kysely.ts';

/** `migrate`: brings the database up to date without starting the server. */
export function migrateCommand(): Command {
  return new Command('migrate').description('bring the database schema up to date (the server does so at its start)').action(run);
}

async function run(): Promise<void> {
  const config = loadConfig(process.env);
  const database = openKysely(config.databasePath);
  try {
    const names = await migrate(database);
    process.stdout.write(names.length === 0 ? 'The schema is up to date.\n' : `Ran ${names.join(', ')}.\n`);
  } finally {
    await database.destroy();
  }
}

import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { migrate } from '../database/migrate.ts';
import { openKysely } from '../database/kysely.ts';
import { print } from './session.ts';

/** `migrate`: brings the database up to date without starting the server. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database schema up to date (the server does so at its start)')
    .option('--json', 'print one JSON object')
    .action(run);
}

async function run(options: { readonly json?: boolean }): Promise<void> {
  const config = loadConfig(process.env);
  const database = openKysely(config.databasePath);
  try {
    const names = await migrate(database);
    print({ migrations: names }, options, [names.length === 0 ? 'The schema is up to date.' : `Ran ${names.join(', ')}.`]);
  } finally {
    await database.destroy();
  }
}

import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { connect } from '../database/connect.ts';
import { migrate } from '../database/migrate.ts';
import { print } from './session.ts';

/** `migrate`: brings the database up to date without starting the server. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database schema up to date (with the embedded database, every start does so)')
    .option('--json', 'print one JSON object')
    .action(run);
}

async function run(options: { readonly json?: boolean }): Promise<void> {
  const config = loadConfig(process.env);
  const { kysely: database, dialect } = await connect(config);
  try {
    const names = await migrate(database, dialect);
    print({ migrations: names }, options, [names.length === 0 ? 'The schema is up to date.' : `Ran ${names.join(', ')}.`]);
  } finally {
    await database.destroy();
  }
}

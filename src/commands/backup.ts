import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { backupSqlite } from '../database/sqlite.ts';
import { print } from './session.ts';

/** `backup`: a copy of the embedded database while the server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the embedded database, complete and at one moment, while the server runs')
    .requiredOption('--to <file>', 'the file to make; it must not be there yet')
    .option('--json', 'print one JSON object')
    .action(run);
}

function run(options: { readonly to: string; readonly json?: boolean }): void {
  const config = loadConfig(process.env);
  const file = resolve(options.to);
  if (config.databaseUrl !== undefined) throw new Error('The database is PostgreSQL: back it up with pg_dump or its own archiving.');
  if (!existsSync(config.databasePath))
    throw new Error(`There is no database at ${config.databasePath}. Is TOLLGATE_DATA set as for the server?`);
  if (existsSync(file)) throw new Error(`${file} is there already. Name a file that is not.`);
  if (!existsSync(dirname(file))) throw new Error(`There is no folder ${dirname(file)}. Make it, readable by you only, and try again.`);
  const startedAtMs = Date.now();
  backupSqlite(config.databasePath, file);
  const shown = { file, bytes: statSync(file).size, milliseconds: Date.now() - startedAtMs };
  print(shown, options, [
    `${file}: ${shown.bytes} bytes in ${shown.milliseconds} ms. To restore it, stop the server, remove tollgate.db, tollgate.db-wal and tollgate.db-shm, and put it in place as tollgate.db.`,
  ]);
}

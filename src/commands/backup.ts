import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { COMMAND_LINE, differences, recordDeed } from '../accounts/audit.ts';
import { loadConfig } from '../config.ts';
import { openKysely } from '../database/kysely.ts';
import { backupSqlite } from '../database/sqlite.ts';
import { print, requireDatabase, type JsonOption } from './session.ts';

/** `backup`: a copy of the embedded database while the server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the embedded database, complete and at one moment, while the server runs')
    .requiredOption('--to <file>', 'the file to make; it must not be there yet')
    .option('--json', 'print one JSON object')
    .action(run);
}

async function run(options: JsonOption & { readonly to: string }): Promise<void> {
  const config = loadConfig(process.env);
  const file = resolve(options.to);
  if (config.databaseUrl !== undefined) throw new Error('The database is PostgreSQL: back it up with pg_dump or its own archiving.');
  requireDatabase(config);
  if (existsSync(file)) throw new Error(`${file} is there already. Name a file that is not.`);
  if (!existsSync(dirname(file))) throw new Error(`There is no folder ${dirname(file)}. Make it, readable by you only, and try again.`);
  const startedAtMs = Date.now();
  backupSqlite(config.databasePath, file);
  const shown = { file, bytes: statSync(file).size, milliseconds: Date.now() - startedAtMs };
  await writeDown(config.databasePath, shown);
  print(shown, options, [
    `${file}: ${shown.bytes} bytes in ${shown.milliseconds} ms. To restore it, stop the server, remove tollgate.db, tollgate.db-wal and tollgate.db-shm, and put it in place as tollgate.db.`,
  ]);
}

/** Operators see in the dashboard when the last backup was. One of a database that cannot be written to is a backup all the same. */
async function writeDown(databasePath: string, { file, bytes }: { readonly file: string; readonly bytes: number }): Promise<void> {
  const entry = { actor: COMMAND_LINE, action: 'backup', subject: file, changes: differences({}, { bytes }) };
  try {
    const database = openKysely(databasePath);
    await recordDeed(database, entry);
    await database.destroy();
  } catch (error) {
    process.stderr.write(`The backup is made, but the audit log could not be told of it: ${(error as Error).message}\n`);
  }
}

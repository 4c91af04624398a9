import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { COMMAND_LINE, differences, recordAction } from '../accounts/audit.ts';
import { loadConfig } from '../config.ts';
import { openKysely } from '../database/kysely.ts';
import { backupSqlite } from '../database/sqlite.ts';
import { print, requireDatabase, type JsonOption } from './session.ts';

/** `backup`: copies the embedded database while the server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the embedded database, consistent at one moment, while the server runs')
    .requiredOption('--to <file>', 'the file to create; it must not exist yet')
    .option('--json', 'print one JSON object')
    .action(run);
}

async function run(options: JsonOption & { readonly to: string }): Promise<void> {
  const config = loadConfig(process.env);
  const file = resolve(options.to);
  if (config.databaseUrl !== undefined) throw new Error('The database is PostgreSQL: back it up with pg_dump or its own archiving.');
  requireDatabase(config);
  if (existsSync(file)) throw new Error(`${file} already exists. Name a file that does not.`);
  if (!existsSync(dirname(file))) throw new Error(`There is no folder ${dirname(file)}. Create it, readable by you only, and try again.`);
  const startedAtMs = Date.now();
  try {
    backupSqlite(config.databasePath, file);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path?.startsWith(file) !== true) throw error;
    throw new Error(`${file} cannot be created (${code}). Name a file in a folder that this user may write to.`, { cause: error });
  }
  const shown = { file, bytes: statSync(file).size, milliseconds: Date.now() - startedAtMs };
  await recordBackup(config.databasePath, shown);
  print(shown, options, [
    `${file}: ${shown.bytes} bytes in ${shown.milliseconds} ms. To restore it, stop the server, remove tollgate.db, tollgate.db-wal and tollgate.db-shm, and put it in place as tollgate.db.`,
  ]);
}

/**
 * Records the backup in the audit log, so that the dashboard can show the last one. If the database is read-only, the backup still
 * succeeds.
 */
async function recordBackup(databasePath: string, { file, bytes }: { readonly file: string; readonly bytes: number }): Promise<void> {
  const entry = { actor: COMMAND_LINE, action: 'backup', subject: file, changes: differences({}, { bytes }) };
  try {
    const database = openKysely(databasePath);
    await recordAction(database, entry);
    await database.destroy();
  } catch (error) {
    process.stderr.write(`The backup is complete, but could not be recorded in the audit log: ${(error as Error).message}\n`);
  }
}

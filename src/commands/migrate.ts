import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import type { Kysely } from 'kysely';
import { loadConfig, type Config } from '../config.ts';
import { connect } from '../database/connect.ts';
import { copyToPostgres } from '../database/copy.ts';
import { migrate, pendingMigrations } from '../database/migrate.ts';
import { LOCK_FILE, lockDataFolder } from '../database/sqlite.ts';
import type { Tables } from '../database/tables.ts';
import { longestRequest } from '../housekeeping.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { print, type JsonOption } from './session.ts';
import { sayCount } from './text.ts';

interface Options extends JsonOption {
  readonly from?: string;
}

/** `migrate`: brings the schema up to date without starting the server, and copies an embedded database to PostgreSQL. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database schema up to date (the embedded database is updated at every start)')
    .option('--from <file>', 'then copy this embedded database to the empty PostgreSQL at DATABASE_URL; stop its server first')
    .option('--json', 'print one JSON object')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const config = loadConfig(process.env);
  if (options.from !== undefined && config.databaseUrl === undefined)
    throw new Error('--from copies to PostgreSQL: set DATABASE_URL to the target database.');
  const { kysely: database, dialect } = await connect(config);
  try {
    const names = await migrate(database, dialect);
    const lines = [names.length === 0 ? 'The schema is up to date.' : `Ran ${names.join(', ')}.`];
    if (options.from === undefined) return print({ migrations: names }, options, lines);
    const copied = await copyFrom(resolve(options.from), database, options);
    const rows = Object.values(copied).reduce((sum, count) => sum + count, 0);
    await requireCorrectLedger(config, database);
    print({ migrations: names, copied }, options, [...lines, `Copied ${sayCount(rows, 'row')}. The ledger of the copy is correct.`]);
  } finally {
    await database.destroy();
  }
}

/** Copies all tables; returns the number of rows copied per table. */
async function copyFrom(file: string, target: Kysely<Tables>, options: Options): Promise<Record<string, number>> {
  if (!existsSync(file)) throw new Error(`There is no database at ${file}.`);
  const folder = dirname(file);
  const lock = existsSync(join(folder, LOCK_FILE)) ? lockDataFolder(folder) : { unlock: () => undefined };
  if (lock === undefined)
    throw new Error(`A Tollgate server is using ${folder}. Stop it first: charges made during the copy would be missing.`);
  const { kysely: source } = await connect({ databaseUrl: undefined, databasePath: file });
  const copied: Record<string, number> = {};
  try {
    const pending = await pendingMigrations(source, 'sqlite');
    if (pending.length > 0)
      throw new Error(
        `${file} has an older schema: it lacks ${pending.join(', ')}. Bring it up to date first, with TOLLGATE_DATA and without DATABASE_URL: tollgate migrate`,
      );
    await copyToPostgres(source, target, (table, rows) => {
      copied[table] = rows;
      if (rows > 0 && options.json !== true) process.stderr.write(`${table}: ${sayCount(rows, 'row')}\n`);
    });
  } finally {
    await source.destroy();
    lock.unlock();
  }
  return copied;
}

async function requireCorrectLedger(config: Config, database: Kysely<Tables>): Promise<void> {
  const checks = await verifyLedger(database, { longestRequestMs: longestRequest(config) });
  const broken = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (broken.length > 0)
    throw new Error(
      `Everything was copied, but the ledger of the copy has differences (${broken.join(', ')}). Run ledger verify on the embedded database to see whether it has them too; docs/operations.md says what to do.`,
    );
}

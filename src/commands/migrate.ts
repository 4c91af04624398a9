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

interface Options extends JsonOption {
  readonly from?: string;
}

/** `migrate`: brings the database up to date without starting the server, and carries an embedded one over to PostgreSQL. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database schema up to date (with the embedded database, every start does so)')
    .option('--from <file>', 'then copy this embedded database, whose server is stopped, to the empty PostgreSQL of DATABASE_URL')
    .option('--json', 'print one JSON object')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const config = loadConfig(process.env);
  if (options.from !== undefined && config.databaseUrl === undefined)
    throw new Error('--from copies to PostgreSQL: set DATABASE_URL to where the copy is to be made.');
  const { kysely: database, dialect } = await connect(config);
  try {
    const names = await migrate(database, dialect);
    const lines = [names.length === 0 ? 'The schema is up to date.' : `Ran ${names.join(', ')}.`];
    if (options.from === undefined) return print({ migrations: names }, options, lines);
    const copied = await copyFrom(resolve(options.from), database, options);
    const rows = Object.values(copied).reduce((sum, count) => sum + count, 0);
    await requireRight(config, database);
    print({ migrations: names, copied }, options, [...lines, `Copied ${rows} rows. The ledger of the copy is right.`]);
  } finally {
    await database.destroy();
  }
}

/** Gives how many rows of each table there were. */
async function copyFrom(file: string, target: Kysely<Tables>, options: Options): Promise<Record<string, number>> {
  if (!existsSync(file)) throw new Error(`There is no database at ${file}.`);
  const folder = dirname(file);
  const lock = existsSync(join(folder, LOCK_FILE)) ? lockDataFolder(folder) : { unlock: () => undefined };
  if (lock === undefined) throw new Error(`A Tollgate server uses ${folder}. Stop it first: what it charges meanwhile would be missing.`);
  const { kysely: source } = await connect({ databaseUrl: undefined, databasePath: file });
  const copied: Record<string, number> = {};
  try {
    const pending = await pendingMigrations(source, 'sqlite');
    if (pending.length > 0)
      throw new Error(
        `${file} is of an older version: it lacks ${pending.join(', ')}. Bring it up to date first, with TOLLGATE_DATA and without DATABASE_URL: tollgate migrate`,
      );
    await copyToPostgres(source, target, (table, rows) => {
      copied[table] = rows;
      if (rows > 0 && options.json !== true) process.stderr.write(`${table}: ${rows} rows\n`);
    });
  } finally {
    await source.destroy();
    lock.unlock();
  }
  return copied;
}

async function requireRight(config: Config, database: Kysely<Tables>): Promise<void> {
  const checks = await verifyLedger(database, { longestRequestMs: longestRequest(config) });
  const broken = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (broken.length > 0)
    throw new Error(
      `Everything was copied, but the ledger of the copy has differences (${broken.join(', ')}). Look whether the embedded one has them too, with ledger verify: see docs/operations.md.`,
    );
}

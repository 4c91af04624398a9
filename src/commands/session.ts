import { statSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { Accounts, type Account } from '../accounts/accounts.ts';
import { Keys } from '../accounts/keys.ts';
import { loadConfig, type Config } from '../config.ts';
import { prepareSchema } from '../database/migrate.ts';
import { connect } from '../database/connect.ts';
import type { Tables } from '../database/tables.ts';
import { makePlain } from './text.ts';

/** The settings and the database that a command works on, shared with a running server. */
export interface CommandSession {
  readonly config: Config;
  readonly database: Kysely<Tables>;
  readonly accounts: Accounts;
  readonly keys: Keys;
}

type Check = (config: Config) => void;

/** Opens the database, runs the command's work, and closes the database in any case. Only `createDatabase` lets it create one. */
export async function withSession<Result>(
  work: (session: CommandSession) => Promise<Result>,
  check: Check = requireDatabase,
): Promise<Result> {
  const config = loadConfig(process.env);
  check(config);
  const { kysely: database, dialect } = await connect(config);
  try {
    await prepareSchema(database, dialect);
    return await work({ config, database, accounts: new Accounts(database), keys: new Keys(database) });
  } finally {
    await database.destroy();
  }
}

/** Refuses to run without a database: in a wrong folder, an empty one would look as if all were well. */
export function requireDatabase({ databaseUrl, databasePath }: Config): void {
  if (databaseUrl !== undefined) return;
  try {
    statSync(databasePath);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    // Other users cannot look into the data folder: to them, the database must not seem to be missing.
    throw new Error(
      code === 'ENOENT' || code === 'ENOTDIR'
        ? `There is no database at ${databasePath}. Is TOLLGATE_DATA set as for the server?`
        : `${databasePath} cannot be read (${code}). Run the command as the user of the server.`,
      { cause: error },
    );
  }
}

/** For a command that may be the first one: it creates the database if there is none. */
export const createDatabase: Check = () => undefined;

/** Returns the account of this address, or throws an error that says how to create it. */
export async function requireAccount(session: CommandSession, email: string): Promise<Account> {
  const account = await session.accounts.find(normalizeEmail(email));
  if (account === undefined) throw new Error(`There is no account ${email}. Create it with: account create --email ${email}`);
  return account;
}

/** Normalizes an email address: addresses that differ only in case are the same. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** The `--json` option of every command that prints a result. */
export interface JsonOption {
  readonly json?: boolean;
}

/** Prints a result: one JSON object for programs, or lines for people. */
export function print(result: Readonly<Record<string, unknown>>, options: JsonOption, lines: readonly string[]): void {
  process.stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : lines.map((line) => `${makePlain(line)}\n`).join(''));
}

/** Shows on a terminal how far a long command is, in one line that the next call replaces and an empty text removes. */
export function showProgress(text: string, options: JsonOption = {}): void {
  if (process.stderr.isTTY && options.json !== true) process.stderr.write(`\r\u001B[K${text}`);
}

/** Formats a moment as commands print it. */
export function formatTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

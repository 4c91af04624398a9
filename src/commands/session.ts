import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { Accounts, type Account } from '../accounts/accounts.ts';
import { Keys } from '../accounts/keys.ts';
import { loadConfig, type Config } from '../config.ts';
import { prepareSchema } from '../database/migrate.ts';
import { connect } from '../database/connect.ts';
import type { Tables } from '../database/tables.ts';

/** What a command works on: the same database as a running server. */
export interface CommandSession {
  readonly config: Config;
  readonly database: Kysely<Tables>;
  readonly accounts: Accounts;
  readonly keys: Keys;
}

type Check = (config: Config) => void;

/** Opens the database, which is made where there is none and nobody checks, runs the command's work, and closes it whatever happens. */
export async function withSession<Result>(work: (session: CommandSession) => Promise<Result>, check?: Check): Promise<Result> {
  const config = loadConfig(process.env);
  check?.(config);
  const { kysely: database, dialect } = await connect(config);
  try {
    await prepareSchema(database, dialect);
    return await work({ config, database, accounts: new Accounts(database), keys: new Keys(database) });
  } finally {
    await database.destroy();
  }
}

/** A wrong folder must not pass for a database in which all is well. */
export function requireDatabase({ databaseUrl, databasePath }: Config): void {
  if (databaseUrl === undefined && !existsSync(databasePath))
    throw new Error(`There is no database at ${databasePath}. Is TOLLGATE_DATA set as for the server?`);
}

/** The account of this address, or an error that says how to make it. */
export async function requireAccount(session: CommandSession, email: string): Promise<Account> {
  const account = await session.accounts.find(normalizeEmail(email));
  if (account === undefined) throw new Error(`There is no account ${email}. Make it with: account create --email ${email}`);
  return account;
}

/** Addresses differ by letter case only by mistake. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** How every command that prints a result can be told to. */
export interface JsonOption {
  readonly json?: boolean;
}

/** Prints a result: one JSON object for programs, or lines for people. */
export function print(result: Readonly<Record<string, unknown>>, options: JsonOption, lines: readonly string[]): void {
  process.stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : `${lines.join('\n')}\n`);
}

/** A moment as commands print it. */
export function formatTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

import { Database } from 'bun:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tables } from './tables.ts';

const BUSY_TIMEOUT_MS = 5000;

/** Opens the embedded database with the settings every connection of ours must share. */
export function openSqlite(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new Database(path, { create: true, strict: true, safeIntegers: true });
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.run('PRAGMA journal_mode = WAL');
  // FULL: a commit that was reported is on disk even when the power fails right after.
  database.run('PRAGMA synchronous = FULL');
  database.run('PRAGMA foreign_keys = ON');
  return database;
}

/** The same database behind the query builder, for everything but the ledger's hot statements. */
export function openKysely(path: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: asKyselyDatabase(openSqlite(path)) }) });
}

/**
 * Makes sure that one server process uses a data folder: a second one would give back the holds of the first.
 * The operating system ends the lock with the process, however that ends.
 */
export function lockDataFolder(dataFolder: string): { unlock(): void } | undefined {
  const database = openLockFile(join(dataFolder, 'server.lock'));
  try {
    database.run('BEGIN EXCLUSIVE');
  } catch {
    // SQLITE_BUSY: another process holds it.
    database.close();
    return undefined;
  }
  return { unlock: () => database.close() };
}

function openLockFile(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return new Database(path, { create: true });
}

/** Kysely speaks to the interface of better-sqlite3; this is the part of it that Kysely uses. */
function asKyselyDatabase(database: Database): ConstructorParameters<typeof SqliteDialect>[0]['database'] {
  return {
    close: () => database.close(),
    prepare: (sql: string) => {
      const statement = database.prepare(sql);
      return {
        // Statements that return columns are read; the others are run.
        reader: statement.columnNames.length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...(parameters as never[])),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as never[])),
        run: (parameters: readonly unknown[]) => {
          const { changes, lastInsertRowid } = statement.run(...(parameters as never[]));
          return { changes, lastInsertRowid };
        },
      };
    },
  };
}

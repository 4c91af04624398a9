import { Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Held for as long as a server uses the data folder that it is in. */
export const LOCK_FILE = 'server.lock';
const HELD_BY_ANOTHER = 'SQLITE_BUSY';
const BUSY_TIMEOUT_MS = 5000;
const PAGE_BYTES = 2048;
const LOG_PAGES_MAX = 16_000;
const LOG_BYTES_MAX = 64 * 1024 * 1024;

/** Opens the embedded database with the settings every connection of ours must share. */
export function openSqlite(path: string, safeIntegers = true): Database {
  try {
    return openDatabase(path, safeIntegers);
  } catch (error) {
    throw explain(path, error);
  }
}

/** The system's own words name no file, and nobody knows from them what to do. */
function explain(path: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `${path} cannot be opened: ${reason}. The user who runs Tollgate must own the folder and its files, on a disk that can be written and has room; TOLLGATE_DATA names another folder.`,
    { cause },
  );
}

function openDatabase(path: string, safeIntegers: boolean): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new Database(path, { create: true, strict: true, safeIntegers });
  chmodSync(path, 0o600);
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // For a database that is new; others keep theirs. A charge changes a few rows of several tables, and each of their pages is logged whole.
  database.run(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.run('PRAGMA journal_mode = WAL');
  // FULL: a commit that was reported is on disk even when the power fails right after.
  database.run('PRAGMA synchronous = FULL');
  // The server has its log written back by a thread long before; this is for when there is none.
  database.run(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`);
  // A long report keeps the log from being written back while it reads; afterwards the log shrinks to this again.
  database.run(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`);
  database.run('PRAGMA foreign_keys = ON');
  return database;
}

/**
 * Makes sure that one server process uses a data folder: a second one would give back the holds of the first.
 * The operating system ends the lock with the process, however that ends.
 */
export function lockDataFolder(dataFolder: string): { unlock(): void } | undefined {
  const path = join(dataFolder, LOCK_FILE);
  let database: Database | undefined;
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
    database = new Database(path, { create: true });
    database.run('BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (error instanceof SQLiteError && error.code === HELD_BY_ANOTHER) return undefined;
    throw explain(path, error);
  }
  return { unlock: () => database.close() };
}

/**
 * Copies the database at one moment into a new file, and makes sure that the copy is on disk. Writers go on meanwhile.
 * It gets its name when it is complete: what was broken off must not pass for a backup.
 */
export function backupSqlite(path: string, file: string): void {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  const database = openSqlite(path);
  try {
    // Made before anything is written into it: a large copy takes a while, and nobody else may read it meanwhile either.
    closeSync(openSync(partial, 'wx', 0o600));
    database.prepare('VACUUM INTO ?1').run(partial);
    flush(partial);
    renameSync(partial, file);
    flush(dirname(file));
  } finally {
    rmSync(partial, { force: true });
    database.close();
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

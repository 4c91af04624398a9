import { Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Locked for as long as a server uses the data folder it is in. */
export const LOCK_FILE = 'server.lock';
const HELD_BY_ANOTHER = 'SQLITE_BUSY';
/** How long to wait for the lock while another process or connection writes. */
export const BUSY_TIMEOUT_MS = 5000;
const PAGE_BYTES = 2048;
const LOG_PAGES_MAX = 16_000;
const LOG_BYTES_MAX = 64 * 1024 * 1024;

/** Opens the embedded database with the settings that all our connections share. */
export function openSqlite(path: string, safeIntegers = true): Database {
  try {
    return openDatabase(path, safeIntegers);
  } catch (error) {
    throw explain(path, error, isDamage(error) ? 'The file is damaged: keep a copy of it, and restore a backup.' : CHECK_THE_FOLDER);
  }
}

const CHECK_THE_FOLDER =
  'The user running Tollgate must own the folder and its files, on a writable disk with free space. To use another folder, set TOLLGATE_DATA.';

function isDamage(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code === 'SQLITE_CORRUPT' || error.code === 'SQLITE_NOTADB');
}

/** The system's own message names no file and does not say what to do. */
function explain(path: string, cause: unknown, advice: string): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`${path} cannot be opened: ${reason}. ${advice}`, { cause });
}

function openDatabase(path: string, safeIntegers: boolean): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new Database(path, { create: true, strict: true, safeIntegers });
  chmodSync(path, 0o600);
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // Applies to new databases only. A charge changes a few rows in several tables, and each of their pages is logged whole.
  database.run(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.run('PRAGMA journal_mode = WAL');
  // FULL: a reported commit is on disk even if the power fails right after.
  database.run('PRAGMA synchronous = FULL');
  // In the server a worker writes the log back long before this limit. It is for processes without that worker.
  database.run(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`);
  // A long report keeps the log from being written back while it reads. Afterwards the log shrinks to this size again.
  database.run(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`);
  database.run('PRAGMA foreign_keys = ON');
  return database;
}

/**
 * Makes sure that only one server process uses a data folder: a second one would release the holds of the first.
 * The operating system releases the lock when the process ends, in whatever way.
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
    throw explain(path, error, CHECK_THE_FOLDER);
  }
  return { unlock: () => database.close() };
}

/**
 * Copies one snapshot of the database to a new file and flushes it to disk, without blocking writers. The file gets its final
 * name when it is complete, so an interrupted copy cannot be mistaken for a backup.
 */
export function backupSqlite(path: string, file: string): void {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  const database = openSqlite(path);
  try {
    // Created before anything is written: a large copy takes a while, and no other user may read it meanwhile.
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

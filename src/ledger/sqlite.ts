import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { openSqlite } from '../database/sqlite.ts';
import { LogKeeper } from './log-keeper.ts';
import type { LedgerStore, Operation, OperationResult } from './ledger.ts';
import { prepareApply, type Apply } from './sqlite-apply.ts';

/** Another process or connection writes: who cannot have the lock by then gives up. */
const BUSY_MS_MAX = 5000;
const BUSY_RETRY_MS = 1;

/** Puts what was written to a file on disk. */
export type Sync = (file: number) => Promise<void>;

/** Hears what the operator should know. */
export type Tell = (event: string, failure: Error) => void;

export interface SqliteStoreOptions {
  readonly sync?: Sync | undefined;
  readonly tell: Tell;
}

/**
 * Opens the ledger's store on the embedded database. Transactions are carried out in this thread, for to hand them to
 * another costs more than they do. What takes time without work is waited for elsewhere, so that no request stops for
 * it: the flush to disk, which each transaction asks for itself, and the writing back of the log.
 */
export function openSqliteStore(path: string, nodeId: string, { sync = promisify(fdatasync), tell }: SqliteStoreOptions): LedgerStore {
  const database = openSqlite(path);
  // A charge is on disk when we have synced the log, which is when its `apply` is over. NORMAL still syncs where the log begins anew.
  database.run('PRAGMA synchronous = NORMAL');
  // Waiting for the lock would keep the whole thread waiting.
  database.run('PRAGMA busy_timeout = 0');
  return new SqliteStore({
    database,
    apply: prepareApply(database, nodeId),
    logFile: openSync(`${path}-wal`, 'r'),
    log: new LogKeeper(path, (failure) => tell('the log of the database could not be written back', failure)),
    sync,
  });
}

interface Parts {
  readonly database: ReturnType<typeof openSqlite>;
  readonly apply: Apply;
  readonly logFile: number;
  readonly log: LogKeeper;
  readonly sync: Sync;
}

class SqliteStore implements LedgerStore {
  isAlive = true;
  readonly #parts: Parts;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async apply(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    if (!this.isAlive) throw new Error('the store has ended');
    const { log } = this.#parts;
    if (log.writingBack !== undefined) await log.writingBack;
    const results = await this.#carryOut(operations);
    // A hold is there when it is committed: a kill of this process leaves it. Only a power cut could take it, and with it goes a
    // request that nothing was recorded of since, for any later sync takes it along; recovery would settle such a one at nothing.
    if (!operations.every(({ type }) => type === 'hold')) await this.#flush();
    log.grow(operations.length);
    return results;
  }

  /** A database that is closed properly has everything in its main file. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.isAlive = false;
    const { database, log, logFile } = this.#parts;
    await log.close();
    closeSync(logFile);
    database.close();
  }

  async #carryOut(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    const giveUpAtMs = performance.now() + BUSY_MS_MAX;
    for (;;) {
      try {
        return this.#parts.apply(operations);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= giveUpAtMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      }
    }
  }

  /** A disk that failed to keep what it was given may say next time that all is well, and it is not: nothing more is written. */
  async #flush(): Promise<void> {
    try {
      await this.#parts.sync(this.#parts.logFile);
    } catch (error) {
      this.isAlive = false;
      throw error;
    }
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY');
}

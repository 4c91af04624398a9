import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { BUSY_TIMEOUT_MS, openSqlite } from '../database/sqlite.ts';
import { Checkpointer } from './checkpointer.ts';
import type { LedgerStore, Operation, OperationResult } from './ledger.ts';
import { isRefusal, prepareApply, type Apply } from './sqlite-apply.ts';

const BUSY_RETRY_MS = 1;

/** Flushes a file to disk. */
export type Sync = (file: number) => Promise<void>;

/** Reports a failure to the operator. */
export type OnFailure = (event: string, failure: Error) => void;

/** What tests replace, and where failures are reported. */
export interface SqliteStoreOptions {
  readonly sync?: Sync | undefined;
  readonly onFailure: OnFailure;
}

/**
 * Opens the ledger's store on the embedded database. Transactions run in this thread, because handing them to another one
 * costs more than they do. Slow waits happen elsewhere, so that no request is blocked: the flush to disk, which each
 * transaction requests itself, and writing back the log.
 */
export function openSqliteStore(path: string, nodeId: string, { sync = promisify(fdatasync), onFailure }: SqliteStoreOptions): LedgerStore {
  const database = openSqlite(path);
  // A charge is on disk once the log is synced, before `apply` resolves. NORMAL still syncs when the log restarts.
  database.run('PRAGMA synchronous = NORMAL');
  // Waiting for the lock here would block the whole thread.
  database.run('PRAGMA busy_timeout = 0');
  return new SqliteStore({
    database,
    apply: prepareApply(database, nodeId),
    logFile: openSync(`${path}-wal`, 'r'),
    checkpointer: new Checkpointer(path, (failure) => onFailure('the write-ahead log could not be checkpointed', failure)),
    sync,
  });
}

interface Parts {
  readonly database: ReturnType<typeof openSqlite>;
  readonly apply: Apply;
  readonly logFile: number;
  readonly checkpointer: Checkpointer;
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
    if (!this.isAlive) throw new Error('the store is closed');
    const { checkpointer } = this.#parts;
    if (checkpointer.running !== undefined) await checkpointer.running;
    const results = await this.#commit(operations);
    // A committed hold survives a kill of this process. Only a power cut can lose it, and then nothing else was recorded for that request
    // either, because any later sync includes the hold. Recovery would have settled such a request at zero.
    if (!operations.every(({ type }) => type === 'hold')) await this.#flush();
    checkpointer.grow(operations.length);
    return results;
  }

  isRefusal(error: unknown): boolean {
    return isRefusal(error);
  }

  /** Closes cleanly, so that the main file holds everything. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.isAlive = false;
    const { database, checkpointer, logFile } = this.#parts;
    await checkpointer.close();
    closeSync(logFile);
    database.close();
  }

  async #commit(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    const deadlineMs = performance.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return this.#parts.apply(operations);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadlineMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      }
    }
  }

  /** Flushes the log. After a failed flush the disk may report success for data it lost, so nothing more is written. */
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

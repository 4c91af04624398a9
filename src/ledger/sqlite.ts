import type { LedgerStore, Operation, OperationResult } from './ledger.ts';
import type { CLOSE, WriterAnswer, WriterReady } from './sqlite-writer.ts';
import { decodeResults, encodeOperations, type WireResult } from './wire.ts';
import { workerUrl } from '../worker-url.ts';

const CLOSE_MS = 2000;

/** Opens the ledger's store on the embedded database: a thread of its own writes, so that no commit keeps a request waiting that needs none. */
export async function openSqliteStore(path: string, nodeId: string): Promise<LedgerStore> {
  const worker = new Worker(workerUrl('ledger/sqlite-writer'), { env: { TOLLGATE_WRITER_DATABASE: path, TOLLGATE_WRITER_NODE: nodeId } });
  await new Promise<void>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<WriterReady>) =>
      data.type === 'ready' ? resolve() : reject(new Error(`The ledger's writer could not start: ${data.reason}`));
    worker.onerror = (event) => reject(new Error(`The ledger's writer could not start: ${event.message}`));
  });
  return new SqliteStore(worker);
}

interface Waiting {
  resolve(results: readonly OperationResult[]): void;
  reject(error: Error): void;
}

/** The near side of the writer thread. One batch is under way at a time; its answer belongs to it. */
class SqliteStore implements LedgerStore {
  isAlive = true;
  readonly #worker: Worker;
  #waiting: Waiting | undefined;
  #onClosed: (() => void) | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WriterAnswer>) => this.#answered(event.data);
    worker.onerror = (event) => this.#broke(event.message);
  }

  apply(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    if (!this.isAlive) return Promise.reject(new Error('the writer has ended'));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(encodeOperations(operations));
    });
  }

  /** A database that is closed properly has everything in its main file. */
  async close(): Promise<void> {
    if (!this.isAlive) return;
    this.isAlive = false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      this.#onClosed = () => {
        clearTimeout(timer);
        resolve();
      };
      const message: typeof CLOSE = 'close';
      this.#worker.postMessage(message);
    });
    this.#worker.terminate();
  }

  #answered(answer: WriterAnswer): void {
    if (answer === ('close' satisfies typeof CLOSE)) {
      this.#onClosed?.();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (typeof answer === 'string') waiting?.resolve(decodeResults(JSON.parse(answer) as WireResult[]));
    else waiting?.reject(new Error(answer.error));
  }

  #broke(reason: string): void {
    this.isAlive = false;
    this.#waiting?.reject(new Error(reason));
    this.#waiting = undefined;
  }
}

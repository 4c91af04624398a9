import type { WriterReady, WriterResult, WriterTask } from './sqlite-writer.ts';

/** The last message to the writer. */
export const CLOSE = 'close';

interface Waiting {
  readonly task: WriterTask;
  readonly resolve: (result: WriterResult) => void;
}

/** More tasks than this wait only when the disk hangs; then new work is refused instead of remembered. */
const WAITING_TASKS_MAX = 10_000;
const CLOSE_POLL_MS = 5;
const CLOSE_MS = 2000;

/**
 * The near side of the writer thread. Tasks that arrive while it commits wait and go together in the next transaction,
 * so one fsync serves many requests. Results come in the order of the tasks.
 */
export class WriterThread {
  readonly #worker: Worker;
  #waiting: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #isGathering = false;
  #isClosed = false;

  static async start(path: string): Promise<WriterThread> {
    const worker = new Worker(writerUrl(), { env: { TOLLGATE_WRITER_DATABASE: path } });
    await new Promise<void>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<WriterReady>) =>
        data.type === 'ready' ? resolve() : reject(new Error(`The ledger's writer could not start: ${data.reason}`));
      worker.onerror = (event) => reject(new Error(`The ledger's writer could not start: ${event.message}`));
    });
    return new WriterThread(worker);
  }

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WriterResult[]>) => this.#committed(event.data);
    worker.onerror = (event) => this.#broke(event.message);
  }

  /** Resolves when the task is committed, or has failed; never rejects. */
  submit(task: WriterTask): Promise<WriterResult> {
    if (this.#isClosed) return Promise.resolve({ type: 'failed', reason: 'the writer has ended' });
    // What was delivered must be charged, so settlements always find room.
    if (task.type !== 'settle' && this.#waiting.length >= WAITING_TASKS_MAX)
      return Promise.resolve({ type: 'failed', reason: 'too much work is waiting' });
    return new Promise((resolve) => {
      this.#waiting.push({ task, resolve });
      this.#flush();
    });
  }

  /** Ends the thread when everything that was submitted is committed. */
  async close(): Promise<void> {
    while (this.#inFlight.length > 0 || this.#waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    this.#isClosed = true;
    await this.#closeDatabase();
    this.#worker.terminate();
  }

  get isAlive(): boolean {
    return !this.#isClosed;
  }

  /** A database that is closed properly leaves no log file behind. */
  #closeDatabase(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      this.#worker.onmessage = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#worker.postMessage(CLOSE);
    });
  }

  #flush(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0 || this.#isGathering) return;
    this.#inFlight = this.#waiting;
    this.#waiting = [];
    this.#worker.postMessage(this.#inFlight.map((waiting) => waiting.task));
  }

  #committed(results: readonly WriterResult[]): void {
    const done = this.#inFlight;
    this.#inFlight = [];
    done.forEach(({ resolve }, index) => resolve(results[index] ?? { type: 'failed', reason: 'the writer gave no answer' }));
    if (this.#waiting.length === 0) return;
    // Under load, whoever is about to ask in this turn of the event loop still gets into the next transaction.
    this.#isGathering = true;
    setImmediate(() => {
      this.#isGathering = false;
      this.#flush();
    });
  }

  #broke(reason: string): void {
    this.#isClosed = true;
    const lost = [...this.#inFlight, ...this.#waiting];
    this.#inFlight = [];
    this.#waiting = [];
    for (const { resolve } of lost) resolve({ type: 'failed', reason });
  }
}

/** In the built executable everything lies where the program does, compiled. */
function writerUrl(): URL {
  const isBuilt = import.meta.url.includes('/$bunfs/');
  return new URL(isBuilt ? './ledger/sqlite-writer.js' : './sqlite-writer.ts', import.meta.url);
}

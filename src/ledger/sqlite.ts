import { GatewayError } from '../errors.ts';
import type { HoldRequest, HoldResult, Ledger, Settlement } from './ledger.ts';

/** One piece of work for the writer thread. */
export type WriterTask =
  | { readonly type: 'hold'; readonly hold: HoldRequest }
  | { readonly type: 'settle'; readonly settlement: Settlement };

/** The writer's answer to one task; `failed` means that nothing of it was written. */
export type WriterResult = HoldResult | { readonly type: 'settled' } | { readonly type: 'failed'; readonly reason: string };

/** The writer says this once, when its database is open. */
export type WriterReady = { readonly type: 'ready' } | { readonly type: 'broken'; readonly reason: string };

interface Waiting {
  readonly task: WriterTask;
  readonly resolve: (result: WriterResult) => void;
}

/** More tasks than this wait only when the disk hangs; then new work is refused instead of remembered. */
const WAITING_TASKS_MAX = 10_000;

/**
 * The ledger on the embedded database. One writer thread owns the writing connection; tasks that arrive while it
 * commits wait and go together in the next transaction, so one fsync serves many requests.
 */
export async function openSqliteLedger(path: string): Promise<Ledger> {
  const worker = new Worker(new URL('./sqlite-writer.ts', import.meta.url), { env: { TOLLGATE_WRITER_DATABASE: path } });
  await new Promise<void>((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<WriterReady>) =>
      event.data.type === 'ready' ? resolve() : reject(new Error(`The ledger's writer could not start: ${event.data.reason}`));
    worker.onerror = (event) => reject(new Error(`The ledger's writer could not start: ${event.message}`));
  });
  return new SqliteLedger(worker);
}

class SqliteLedger implements Ledger {
  readonly #worker: Worker;
  #waiting: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #isClosed = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WriterResult[]>) => this.#committed(event.data);
    worker.onerror = (event) => this.#broke(event.message);
  }

  async hold(hold: HoldRequest): Promise<HoldResult> {
    const result = await this.#submit({ type: 'hold', hold });
    if (result.type === 'held' || result.type === 'insufficient_funds') return result;
    throw unavailable(result);
  }

  async settle(settlement: Settlement): Promise<void> {
    const result = await this.#submit({ type: 'settle', settlement });
    if (result.type !== 'settled') throw unavailable(result);
  }

  async close(): Promise<void> {
    while (this.#inFlight.length > 0 || this.#waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    this.#isClosed = true;
    this.#worker.terminate();
  }

  #submit(task: WriterTask): Promise<WriterResult> {
    if (this.#isClosed || (task.type === 'hold' && this.#waiting.length >= WAITING_TASKS_MAX)) {
      return Promise.resolve({ type: 'failed', reason: this.#isClosed ? 'the writer has ended' : 'too much work is waiting' });
    }
    return new Promise((resolve) => {
      this.#waiting.push({ task, resolve });
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0) return;
    this.#inFlight = this.#waiting;
    this.#waiting = [];
    this.#worker.postMessage(this.#inFlight.map((waiting) => waiting.task));
  }

  #committed(results: readonly WriterResult[]): void {
    const done = this.#inFlight;
    this.#inFlight = [];
    this.#flush();
    done.forEach(({ resolve }, index) => resolve(results[index] ?? { type: 'failed', reason: 'the writer gave no answer' }));
  }

  #broke(reason: string): void {
    this.#isClosed = true;
    const lost = [...this.#inFlight, ...this.#waiting];
    this.#inFlight = [];
    this.#waiting = [];
    for (const { resolve } of lost) resolve({ type: 'failed', reason });
  }
}

function unavailable(result: WriterResult): GatewayError {
  return new GatewayError(
    'ledger_unavailable',
    'The ledger cannot be written just now, so nothing was sent and nothing was charged. Try again shortly.',
    {
      cause: new Error(result.type === 'failed' ? result.reason : `the writer answered ${result.type}`),
      retryAfterSeconds: 1,
    },
  );
}

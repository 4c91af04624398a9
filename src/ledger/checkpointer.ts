import { withTimeout } from '../with-timeout.ts';
import { startWorker } from '../start-worker.ts';
import type { CheckpointTask, CheckpointAnswer } from './checkpoint-worker.ts';

/**
 * About how many pages the log may hold before it is written back. A longer log writes pages that change often less often, but the whole
 * log is read at every start.
 */
const PAGES_MAX = 4000;
/** An estimate of the pages that a transaction writes, plus one per operation. Too high rather than too low. */
const PAGES_PER_BATCH = 10;
const CLOSE_MS = 2000;
/** Longer than the worker waits for other connections. A worker that takes more than this hangs, and all charges wait for it. */
const ANSWER_MS = 15_000;

/**
 * Has a worker write SQLite's write-ahead log back to the database file, which takes milliseconds and several flushes. No transaction
 * should run meanwhile: the log would never be empty, and would grow for ever.
 */
export class Checkpointer {
  /** Pending while the log is written back. */
  running: Promise<void> | undefined;
  readonly #path: string;
  readonly #report: (failure: Error) => void;
  readonly #answerMs: number;
  #worker: Worker | undefined;
  #pages = 0;
  #isBroken = false;
  #isReported = false;
  #onAnswer: ((answer: CheckpointAnswer) => void) | undefined;

  /** `report` is called when writing back fails, once per outage. */
  constructor(path: string, report: (failure: Error) => void, answerMs = ANSWER_MS) {
    this.#path = path;
    this.#report = report;
    this.#answerMs = answerMs;
  }

  /** Counts a transaction of this many operations. */
  grow(operations: number): void {
    this.#pages += PAGES_PER_BATCH + operations;
    // Start the worker well before it is needed, so that nothing waits for it. Light traffic never needs it, nor its memory.
    if (this.#pages >= PAGES_MAX / 2) this.#worker ??= this.#start();
    if (this.#pages < PAGES_MAX || this.#isBroken || this.#worker === undefined) return;
    this.#pages = 0;
    this.running = this.#ask('checkpoint').then((answer) => {
      this.running = undefined;
      if (answer === 'done') this.#isReported = false;
      else this.#fail(answer.error);
    });
  }

  async close(): Promise<void> {
    if (this.#worker === undefined || this.#isBroken) return this.#worker?.terminate();
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([this.running, late]);
    await Promise.race([this.#ask('close'), late]);
    this.#worker.terminate();
  }

  #start(): Worker | undefined {
    let worker: Worker;
    try {
      worker = startWorker('ledger/checkpoint-worker', { env: { TOLLGATE_LOG_DATABASE: this.#path }, smol: true });
    } catch (error) {
      // A machine without room for another thread may have some later.
      return this.#fail(String(error));
    }
    worker.onmessage = ({ data }: MessageEvent<CheckpointAnswer>) => this.#onAnswer?.(data);
    // Without the worker, SQLite writes back a longer log itself, and requests wait for that. Nothing is lost.
    worker.onerror = ({ message }) => {
      this.#isBroken = true;
      this.#fail(message);
      this.#onAnswer?.({ error: message });
    };
    return worker;
  }

  #fail(message: string): undefined {
    if (!this.#isReported) this.#report(new Error(message));
    this.#isReported = true;
  }

  #ask(task: CheckpointTask): Promise<CheckpointAnswer> {
    const answer = new Promise<CheckpointAnswer>((resolve) => {
      this.#onAnswer = resolve;
      this.#worker?.postMessage(task);
    });
    return withTimeout('The checkpoint worker', answer, this.#answerMs).catch((late: Error) => {
      this.#isBroken = true;
      // The machine may only have been paused: use the worker again if it answers after all.
      void answer.then((answered) => {
        if (answered === 'done') this.#isBroken = false;
      });
      return { error: late.message };
    });
  }
}

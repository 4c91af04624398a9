import { inTime } from '../in-time.ts';
import { startWorker } from '../start-worker.ts';
import type { LogTask, LogWriterAnswer } from './log-writer.ts';

/** About as many pages may be in the log before it is written back. Longer, and pages that change often are written less often; it is read at every start. */
const PAGES_MAX = 4000;
/** What a transaction writes at least, and more for each of its operations: counted too high rather than too low. */
const PAGES_PER_BATCH = 10;
const CLOSE_MS = 2000;
/** Longer than the thread waits for other connections: one that takes more hangs, and all charges wait for it. */
const ANSWER_MS = 15_000;

/**
 * Has SQLite's log written back to the database file, by a thread: that takes milliseconds and several flushes. While it
 * runs no transaction should, or the log would never be empty and grow for ever.
 */
export class LogKeeper {
  /** Pending while the log is written back. */
  writingBack: Promise<void> | undefined;
  readonly #path: string;
  readonly #tell: (failure: Error) => void;
  readonly #answerMs: number;
  #worker: Worker | undefined;
  #pages = 0;
  #isBroken = false;
  #isTold = false;
  #onAnswer: ((answer: LogWriterAnswer) => void) | undefined;

  /** `tell` hears that it cannot be done, once for as long as that lasts. */
  constructor(path: string, tell: (failure: Error) => void, answerMs = ANSWER_MS) {
    this.#path = path;
    this.#tell = tell;
    this.#answerMs = answerMs;
  }

  /** A transaction of so many operations was written. */
  grow(operations: number): void {
    this.#pages += PAGES_PER_BATCH + operations;
    // Well before there is something to do, so that nobody waits for its start. Little traffic never needs it, nor its memory.
    if (this.#pages >= PAGES_MAX / 2) this.#worker ??= this.#start();
    if (this.#pages < PAGES_MAX || this.#isBroken || this.#worker === undefined) return;
    this.#pages = 0;
    this.writingBack = this.#ask('write_back').then((answer) => {
      this.writingBack = undefined;
      if (answer === 'done') this.#isTold = false;
      else this.#fail(answer.error);
    });
  }

  async close(): Promise<void> {
    if (this.#worker === undefined || this.#isBroken) return this.#worker?.terminate();
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([this.writingBack, late]);
    await Promise.race([this.#ask('close'), late]);
    this.#worker.terminate();
  }

  #start(): Worker | undefined {
    let worker: Worker;
    try {
      worker = startWorker('ledger/log-writer', { env: { TOLLGATE_LOG_DATABASE: this.#path }, smol: true });
    } catch (error) {
      // A machine that has no room for a thread just now may have it later.
      return this.#fail(String(error));
    }
    worker.onmessage = ({ data }: MessageEvent<LogWriterAnswer>) => this.#onAnswer?.(data);
    // Without the thread the log is longer before SQLite itself writes it back, and every request waits for that. Nothing is lost.
    worker.onerror = ({ message }) => {
      this.#isBroken = true;
      this.#fail(message);
      this.#onAnswer?.({ error: message });
    };
    return worker;
  }

  #fail(message: string): undefined {
    if (!this.#isTold) this.#tell(new Error(message));
    this.#isTold = true;
  }

  #ask(task: LogTask): Promise<LogWriterAnswer> {
    const answer = new Promise<LogWriterAnswer>((resolve) => {
      this.#onAnswer = resolve;
      this.#worker?.postMessage(task);
    });
    return inTime('The thread', answer, this.#answerMs).catch((late: Error) => {
      this.#isBroken = true;
      // Perhaps the machine stood still: a thread that did it after all is asked again.
      void answer.then((answered) => {
        if (answered === 'done') this.#isBroken = false;
      });
      return { error: late.message };
    });
  }
}

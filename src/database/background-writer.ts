/** How to write rows in the background. */
export interface BackgroundWork<Row> {
  insert(batch: readonly Row[]): Promise<void>;
  /** A row's memory, in characters. */
  sizeOf(row: Row): number;
  /** How long rows are collected before they are written. */
  readonly waitMs: number;
  readonly batchRowsMax: number;
  /** Called when a write fails, once until writes succeed again. */
  failed(error: unknown): void;
}

const RETRY_MS = 1000;
const BATCH_CHARACTERS_MAX = 4_000_000;
const WAITING_CHARACTERS_MAX = 16_000_000;

/** The embedded database blocks its thread while it writes, so rows that can wait are written at most once a second. */
export const EMBEDDED_WAIT_MS = 1000;

/**
 * Writes rows in the background, in batches. They are a convenience, not a record of money: during a database outage the
 * newest rows wait and older ones are dropped, and waiting rows do not keep the process alive.
 */
export class BackgroundWriter<Row> {
  readonly #work: BackgroundWork<Row>;
  readonly #waiting = new Set<Row>();
  #waitingCharacters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(work: BackgroundWork<Row>) {
    this.#work = work;
  }

  add(row: Row): void {
    this.#waiting.add(row);
    this.#waitingCharacters += this.#work.sizeOf(row);
    for (const oldest of this.#waiting) {
      if (this.#waitingCharacters <= WAITING_CHARACTERS_MAX) break;
      this.#drop(oldest);
    }
    this.#schedule(this.#work.waitMs);
  }

  /** Writes all waiting rows, and stops at the first failure. */
  async close(): Promise<void> {
    await this.#writing;
    clearTimeout(this.#timer);
    this.#isFailing = false;
    while (this.#waiting.size > 0 && !this.#isFailing) await this.#writeBatch();
  }

  #schedule(waitMs: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => this.#run(), waitMs).unref();
  }

  #run(): void {
    this.#timer = undefined;
    this.#writing = this.#writeBatch().then(() => {
      this.#writing = undefined;
      if (this.#waiting.size > 0) this.#schedule(this.#isFailing ? RETRY_MS : this.#work.waitMs);
    });
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#takeBatch();
    try {
      await this.#work.insert(batch);
      for (const row of batch) this.#drop(row);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#work.failed(error);
      this.#isFailing = true;
    }
  }

  /** Rows stay in the waiting set until they are written. */
  #takeBatch(): Row[] {
    const batch: Row[] = [];
    let characters = 0;
    for (const row of this.#waiting) {
      characters += this.#work.sizeOf(row);
      if (batch.length === this.#work.batchRowsMax || (characters > BATCH_CHARACTERS_MAX && batch.length > 0)) break;
      batch.push(row);
    }
    return batch;
  }

  #drop(row: Row): void {
    if (this.#waiting.delete(row)) this.#waitingCharacters -= this.#work.sizeOf(row);
  }
}

import type { OpenDatabase } from '../database/connect.ts';

/** Called when what is kept could not be read or written, once until it can again. */
export type OnCarriedFailure = (event: string, error: unknown) => void;

/** A value as it is written. */
interface CarriedRow {
  readonly account_id: string;
  readonly tool_call_id: string;
  readonly value: string;
  readonly created_at: number;
}

/** The embedded database blocks this thread while it writes, so it does so once a second at most. */
const EMBEDDED_WAIT_MS = 1000;
const RETRY_MS = 1000;
const BATCH_ROWS_MAX = 1000;
const BATCH_CHARACTERS_MAX = 4_000_000;
/** While the database is away, what is newest waits; what is dropped is still in this process's memory. */
const WAITING_CHARACTERS_MAX = 16_000_000;

/** Writes values in the background, in batches. */
export class CarriedWriter {
  readonly #database: OpenDatabase;
  readonly #onFailure: OnCarriedFailure;
  readonly #waiting = new Set<CarriedRow>();
  #waitingCharacters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(database: OpenDatabase, onFailure: OnCarriedFailure) {
    this.#database = database;
    this.#onFailure = onFailure;
  }

  add(row: CarriedRow): void {
    this.#waiting.add(row);
    this.#waitingCharacters += row.value.length;
    for (const oldest of this.#waiting) {
      if (this.#waitingCharacters <= WAITING_CHARACTERS_MAX) break;
      this.#drop(oldest);
    }
    this.#schedule(this.#waitMs);
  }

  /** Writes what waits, and gives up where that fails. */
  async close(): Promise<void> {
    await this.#writing;
    clearTimeout(this.#timer);
    this.#isFailing = false;
    while (this.#waiting.size > 0 && !this.#isFailing) await this.#writeBatch();
  }

  get #waitMs(): number {
    return this.#database.dialect === 'sqlite' ? EMBEDDED_WAIT_MS : 0;
  }

  #schedule(waitMs: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => this.#run(), waitMs);
    // What is kept for providers must not keep the process alive.
    this.#timer.unref();
  }

  #run(): void {
    this.#timer = undefined;
    this.#writing = this.#writeBatch().then(() => {
      this.#writing = undefined;
      if (this.#waiting.size > 0) this.#schedule(this.#isFailing ? RETRY_MS : this.#waitMs);
    });
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#takeBatch();
    try {
      await this.#insert(batch);
      for (const row of batch) this.#drop(row);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onFailure('what providers want back could not be written', error);
      this.#isFailing = true;
    }
  }

  /** Rows stay among those that wait until they are written. */
  #takeBatch(): CarriedRow[] {
    const batch: CarriedRow[] = [];
    let characters = 0;
    for (const row of this.#waiting) {
      characters += row.value.length;
      if (batch.length === BATCH_ROWS_MAX || (characters > BATCH_CHARACTERS_MAX && batch.length > 0)) break;
      batch.push(row);
    }
    return batch;
  }

  async #insert(batch: readonly CarriedRow[]): Promise<void> {
    // PostgreSQL refuses to change a row twice in one statement; of two the later one counts.
    const rows = [...new Map(batch.map((row) => [`${row.account_id} ${row.tool_call_id}`, row])).values()];
    await this.#database.kysely
      .insertInto('carried')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'tool_call_id']).doUpdateSet((row) => ({
          value: row.ref('excluded.value'),
          created_at: row.ref('excluded.created_at'),
        })),
      )
      .execute();
  }

  #drop(row: CarriedRow): void {
    if (this.#waiting.delete(row)) this.#waitingCharacters -= row.value.length;
  }
}

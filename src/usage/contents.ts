import type { Kysely } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import type { Tables } from '../database/tables.ts';

/** What was asked and answered, of an account that has it recorded. */
export interface Content {
  readonly requestId: string;
  readonly accountId: string;
  readonly request: unknown;
  readonly answer: string;
  /** For how long it is kept. */
  readonly days: number;
}

interface Row {
  readonly request_id: string;
  readonly account_id: string;
  readonly request: string;
  readonly answer: string;
  readonly is_cut: number;
  readonly delete_at: number;
}

const DAY_MS = 86_400_000;
/** Of a picture inside a message the beginning tells enough. */
const TEXT_CHARACTERS_MAX = 20_000;
const CONTENT_CHARACTERS_MAX = 200_000;
/** The embedded database blocks this thread while it writes, so it does so once a second at most. */
const WAIT_MS = 1000;
const BATCH_ROWS_MAX = 100;
/** While the database is away, the newest contents wait, and older ones are dropped: they are a convenience, not a record of money. */
const WAITING_CHARACTERS_MAX = 16_000_000;
const PRUNE_ROWS_MAX = 1000;

/** Records contents in the background, and deletes them when their time is over. */
export class Contents {
  readonly #database: OpenDatabase;
  readonly #onFailure: (event: string, error: unknown) => void;
  readonly #waiting = new Set<Row>();
  #waitingCharacters = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  constructor(database: OpenDatabase, onFailure: (event: string, error: unknown) => void) {
    this.#database = database;
    this.#onFailure = onFailure;
  }

  /** Takes a content; it is written within about a second, and nobody waits for it. */
  record(content: Content): void {
    const row = toRow(content, Date.now());
    this.#waiting.add(row);
    this.#waitingCharacters += sizeOf(row);
    for (const oldest of this.#waiting) {
      if (this.#waitingCharacters <= WAITING_CHARACTERS_MAX) break;
      this.#drop(oldest);
    }
    this.#schedule();
  }

  /** Deletes what has been kept for as long as its account said, and says how much that was. */
  async prune(nowMs: number): Promise<number> {
    const { numDeletedRows } = await this.#database.kysely
      .deleteFrom('request_contents')
      .where('request_id', 'in', (select) =>
        select.selectFrom('request_contents').select('request_id').where('delete_at', '<=', BigInt(nowMs)).limit(PRUNE_ROWS_MAX),
      )
      .executeTakeFirst();
    return Number(numDeletedRows);
  }

  /** Writes what waits, and gives up where that fails. */
  async close(): Promise<void> {
    await this.#writing;
    clearTimeout(this.#timer);
    this.#isFailing = false;
    while (this.#waiting.size > 0 && !this.#isFailing) await this.#writeBatch();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => this.#run(), WAIT_MS);
    // What is recorded for convenience must not keep the process alive.
    this.#timer.unref();
  }

  #run(): void {
    this.#timer = undefined;
    this.#writing = this.#writeBatch().then(() => {
      this.#writing = undefined;
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  /** Rows stay among those that wait until they are written. */
  async #writeBatch(): Promise<void> {
    const batch = [...this.#waiting.values().take(BATCH_ROWS_MAX)];
    try {
      await this.#database.kysely
        .insertInto('request_contents')
        .values(batch)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      for (const row of batch) this.#drop(row);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onFailure('contents of requests could not be recorded', error);
      this.#isFailing = true;
    }
  }

  #drop(row: Row): void {
    if (this.#waiting.delete(row)) this.#waitingCharacters -= sizeOf(row);
  }
}

/** For how many days an account's contents are kept; undefined when they are not recorded. */
export async function readContentDays(database: Kysely<Tables>, accountId: string): Promise<number | undefined> {
  const row = await database.selectFrom('content_logging').select('days').where('account_id', '=', accountId).executeTakeFirst();
  return row === undefined ? undefined : Number(row.days);
}

/** Switches recording on, with the time for which contents are kept from then on, or off. What was recorded stays until its day. */
export async function setContentDays(database: Kysely<Tables>, accountId: string, days: number | undefined): Promise<void> {
  if (days === undefined) {
    await database.deleteFrom('content_logging').where('account_id', '=', accountId).execute();
    return;
  }
  await database
    .insertInto('content_logging')
    .values({ account_id: accountId, days })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ days }))
    .execute();
}

/** Deletes everything that was recorded of an account, and says how much that was. */
export async function deleteContents(database: Kysely<Tables>, accountId: string): Promise<number> {
  const { numDeletedRows } = await database.deleteFrom('request_contents').where('account_id', '=', accountId).executeTakeFirst();
  return Number(numDeletedRows);
}

function toRow({ requestId, accountId, request, answer, days }: Content, nowMs: number): Row {
  let isCut = false;
  const shorten = (text: string, charactersMax: number): string => {
    if (text.length <= charactersMax) return text;
    isCut = true;
    return `${text.slice(0, charactersMax).toWellFormed()}… (${text.length - charactersMax} characters left out)`;
  };
  const json = JSON.stringify(request, (_, value: unknown) => (typeof value === 'string' ? shorten(value, TEXT_CHARACTERS_MAX) : value));
  return {
    request_id: requestId,
    account_id: accountId,
    // PostgreSQL takes every character but this one.
    request: shorten(json, CONTENT_CHARACTERS_MAX).replaceAll('\0', ''),
    answer: shorten(answer, CONTENT_CHARACTERS_MAX).replaceAll('\0', ''),
    is_cut: isCut ? 1 : 0,
    delete_at: nowMs + days * DAY_MS,
  };
}

function sizeOf({ request, answer }: Row): number {
  return request.length + answer.length;
}

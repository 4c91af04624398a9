import type { Kysely, SelectQueryBuilder } from 'kysely';
import { BackgroundWriter, EMBEDDED_WAIT_MS } from '../database/background-writer.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';
import { DAY_MS } from '../durations.ts';

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

/** For how long contents may be kept. */
export const CONTENT_DAYS_MAX = 365;
/** Of a picture inside a message the beginning tells enough. */
const TEXT_CHARACTERS_MAX = 20_000;
const CONTENT_CHARACTERS_MAX = 200_000;
const BATCH_ROWS_MAX = 100;
/** Contents are long: little at a time. */
const DELETED_ROWS = 100;

/** Records contents in the background, and deletes them when their time is over. */
export class Contents {
  readonly #database: OpenDatabase;
  readonly #writer: BackgroundWriter<Row>;

  constructor(database: OpenDatabase, onFailure: (event: string, error: unknown) => void) {
    this.#database = database;
    this.#writer = new BackgroundWriter<Row>({
      insert: (batch) => unflushed(database, (kysely) => insert(kysely, batch)),
      sizeOf: ({ request, answer }) => request.length + answer.length,
      waitMs: EMBEDDED_WAIT_MS,
      batchRowsMax: BATCH_ROWS_MAX,
      failed: (error) => onFailure('contents of requests could not be recorded', error),
    });
  }

  /** Takes a content; it is written within about a second, and nobody waits for it. */
  record(content: Content): void {
    this.#writer.add(toRow(content, Date.now()));
  }

  /** Deletes everything that has been kept for as long as its account said, and says how much that was. */
  prune(nowMs: number): Promise<number> {
    const { kysely } = this.#database;
    return deleteSome(kysely, kysely.selectFrom('request_contents').select('request_id').where('delete_at', '<=', BigInt(nowMs)));
  }

  /** Writes what waits, and gives up where that fails. */
  close(): Promise<void> {
    return this.#writer.close();
  }
}

async function insert(kysely: Kysely<Tables>, batch: readonly Row[]): Promise<void> {
  await kysely
    .insertInto('request_contents')
    .values(batch)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
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
export function deleteContents(database: Kysely<Tables>, accountId: string): Promise<number> {
  return deleteSome(database, database.selectFrom('request_contents').select('request_id').where('account_id', '=', accountId));
}

type Chosen = SelectQueryBuilder<Tables, 'request_contents', { request_id: string }>;

function deleteSome(database: Kysely<Tables>, chosen: Chosen): Promise<number> {
  return deleteInParts(database.deleteFrom('request_contents').where('request_id', 'in', chosen.limit(DELETED_ROWS)), DELETED_ROWS);
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

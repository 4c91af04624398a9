import type { Insertable, Kysely, SelectQueryBuilder } from 'kysely';
import { BackgroundWriter, EMBEDDED_WAIT_MS } from '../database/background-writer.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';
import { DAY_MS } from '../durations.ts';

/** The prompt and answer of a request, for an account that records them. */
export interface Content {
  readonly requestId: string;
  readonly accountId: string;
  readonly request: unknown;
  readonly answer: string;
  /** How long it is kept. */
  readonly days: number;
}

type Row = Insertable<Tables['request_contents']>;

/** The longest time prompts and answers may be kept. */
export const CONTENT_DAYS_MAX = 365;
/** The beginning of an image inside a message is enough. */
const TEXT_CHARACTERS_MAX = 20_000;
const CONTENT_CHARACTERS_MAX = 200_000;
const BATCH_ROWS_MAX = 100;
/** Contents are long, so only a few rows are deleted at a time. */
const DELETED_ROWS = 100;

/** Records prompts and answers in the background, and deletes them when they expire. */
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
      failed: (error) => onFailure('prompts and answers could not be recorded', error),
    });
  }

  /** Queues a content. It is written within about a second, and nothing waits for it. */
  record(content: Content): void {
    this.#writer.add(toRow(content, Date.now()));
  }

  /** Deletes contents that have been kept for as long as their account chose; returns how many. */
  prune(nowMs: number): Promise<number> {
    const { kysely } = this.#database;
    return deleteSome(kysely, kysely.selectFrom('request_contents').select('request_id').where('delete_at', '<=', BigInt(nowMs)));
  }

  /** Writes all waiting rows, and stops at the first failure. */
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

/** Returns for how many days an account's contents are kept; undefined when they are not recorded. */
export async function readContentDays(database: Kysely<Tables>, accountId: string): Promise<number | undefined> {
  const row = await database.selectFrom('content_logging').select('days').where('account_id', '=', accountId).executeTakeFirst();
  return row === undefined ? undefined : Number(row.days);
}

/** Turns recording on, with the number of days to keep new contents, or off. Existing contents stay until they expire. */
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

/** Deletes all recorded contents of an account; returns how many. */
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
    // PostgreSQL accepts every character but this one.
    request: shorten(json, CONTENT_CHARACTERS_MAX).replaceAll('\0', ''),
    answer: shorten(answer, CONTENT_CHARACTERS_MAX).replaceAll('\0', ''),
    is_cut: isCut ? 1 : 0,
    delete_at: nowMs + days * DAY_MS,
  };
}

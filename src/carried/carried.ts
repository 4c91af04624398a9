import type { Insertable, Kysely } from 'kysely';
import { BackgroundWriter, EMBEDDED_WAIT_MS } from '../database/background-writer.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { deleteInParts, PART_ROWS } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';
import { DAY_MS } from '../durations.ts';
import { withTimeout } from '../with-timeout.ts';
import { CarriedMemory } from './memory.ts';

/** Called when values cannot be read or written, once until that works again. */
type OnFailure = (event: string, error: unknown) => void;
type Row = Insertable<Tables['carried']>;

/** No conversation continues a tool call after a day. */
const KEPT_MS = DAY_MS;
/** The newest calls of a conversation. Older ones have been read before, or no longer matter. */
const IDS_MAX = 1000;
const BATCH_ROWS_MAX = 1000;
const ID_CHARACTERS_MAX = 256;
const VALUE_CHARACTERS_MAX = 1_000_000;
/** A provider can continue without these values, only less well, so the wait is short. */
const READ_MS = 1000;

/**
 * The data that providers want back with the next turn and that clients do not keep, such as reasoning signatures, by account and tool
 * call. The newest is in memory. All of it is in the database, so that any node finds it, also after a restart.
 */
export class Carried {
  readonly #database: OpenDatabase;
  readonly #onFailure: OnFailure;
  readonly #memory = new CarriedMemory();
  readonly #writer: BackgroundWriter<Row>;
  #isFailing = false;

  constructor(database: OpenDatabase, onFailure: OnFailure) {
    this.#database = database;
    this.#onFailure = onFailure;
    this.#writer = new BackgroundWriter<Row>({
      insert: (batch) => unflushed(database, (kysely) => insert(kysely, batch)),
      sizeOf: ({ value }) => value.length,
      // Another node may need a value as soon as the answer is out.
      waitMs: database.dialect === 'sqlite' ? EMBEDDED_WAIT_MS : 0,
      batchRowsMax: BATCH_ROWS_MAX,
      // Values dropped while the database is away are still in this process's memory.
      failed: (error) => onFailure('data kept for providers could not be written', error),
    });
  }

  /** Keeps values by their tool-call ids. They can be recalled at once, and are written in the background. */
  keep(accountId: string, values: ReadonlyMap<string, string>): void {
    const keptAtMs = Date.now();
    for (const [toolCallId, value] of values) {
      if (!isStorable(toolCallId) || value.length > VALUE_CHARACTERS_MAX) continue;
      this.#memory.set(keyOf(accountId, toolCallId), { value, keptAtMs });
      this.#writer.add({ account_id: accountId, tool_call_id: toolCallId, value, created_at: keptAtMs });
    }
  }

  /**
   * Returns the values of the tool calls in a conversation, message by message. Of calls made together often only the first has a value,
   * so the database is asked only about messages of which nothing is in memory.
   */
  async recall(accountId: string, messages: readonly (readonly string[])[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const sinceMs = Date.now() - KEPT_MS;
    const unknown = messages.filter((ids) => !this.#recallMessage(accountId, ids, { found, sinceMs })).flat();
    const missing = unknown.filter(isStorable);
    if (missing.length > 0) await this.#read(accountId, missing.slice(-IDS_MAX), { found, sinceMs });
    return found;
  }

  /** Deletes rows that are too old. Returns how many. */
  prune(nowMs: number): Promise<number> {
    const { kysely } = this.#database;
    const old = kysely
      .selectFrom('carried')
      .select(['account_id', 'tool_call_id'])
      .where('created_at', '<', BigInt(nowMs - KEPT_MS))
      .limit(PART_ROWS);
    const part = kysely
      .deleteFrom('carried')
      .where((where) => where(where.refTuple('account_id', 'tool_call_id'), 'in', old.$asTuple('account_id', 'tool_call_id')));
    return deleteInParts(part, PART_ROWS);
  }

  /** Resolves when everything that can be written is written. */
  async close(): Promise<void> {
    await this.#writer.close();
  }

  #recallMessage(accountId: string, ids: readonly string[], { found, sinceMs }: Search): boolean {
    let isKnown = false;
    for (const id of ids) {
      const kept = this.#memory.get(keyOf(accountId, id));
      if (kept === undefined || kept.keptAtMs < sinceMs) continue;
      found.set(id, kept.value);
      isKnown = true;
    }
    return isKnown;
  }

  async #read(accountId: string, ids: readonly string[], { found, sinceMs }: Search): Promise<void> {
    try {
      for (const row of await withTimeout('The database', this.#select(accountId, ids, sinceMs), READ_MS)) {
        found.set(row.tool_call_id, row.value);
        this.#memory.set(keyOf(accountId, row.tool_call_id), { value: row.value, keptAtMs: Number(row.created_at) });
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#onFailure('data kept for providers could not be read', error);
      this.#isFailing = true;
    }
  }

  #select(accountId: string, ids: readonly string[], sinceMs: number) {
    return this.#database.kysely
      .selectFrom('carried')
      .select(['tool_call_id', 'value', 'created_at'])
      .where('account_id', '=', accountId)
      .where('tool_call_id', 'in', ids)
      .where('created_at', '>=', BigInt(sinceMs))
      .execute();
  }
}

async function insert(kysely: Kysely<Tables>, batch: readonly Row[]): Promise<void> {
  // PostgreSQL refuses to change a row twice in one statement. Of two values the later one counts.
  const rows = [...new Map(batch.map((row) => [keyOf(row.account_id, row.tool_call_id), row])).values()];
  await kysely
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

interface Search {
  readonly found: Map<string, string>;
  readonly sinceMs: number;
}

/** PostgreSQL stores every character but NUL. An id with NUL would keep its whole batch from being written or read. */
function isStorable(toolCallId: string): boolean {
  return toolCallId.length <= ID_CHARACTERS_MAX && !toolCallId.includes('\0');
}

/** Joins the ids. Account ids contain no spaces. */
function keyOf(accountId: string, toolCallId: string): string {
  return `${accountId} ${toolCallId}`;
}

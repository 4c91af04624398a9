import type { Kysely, Selectable } from 'kysely';
import { BackgroundWriter } from '../database/background-writer.ts';
import type { OpenDatabase } from '../database/connect.ts';
import { deleteInParts, PART_ROWS } from '../database/delete-in-parts.ts';
import { toPage, type PageOf } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';
import type { GatewayError } from '../errors.ts';

/** A request that was refused before a provider was called. */
export interface Refusal {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly error: GatewayError;
  /** The requested model, if its name may be stored. */
  readonly model: string | undefined;
  readonly isStreaming: boolean;
}

/** A refusal as stored. */
export type RefusalRow = Selectable<Tables['refusals']>;

/** How many refusals an account keeps, plus those that arrive between two housekeeping runs. */
const ACCOUNT_ROWS_MAX = 1000;
/** How many are kept per second: with the same key and error, per account, and in total. */
const SAME_PER_SECOND = 3;
const ACCOUNT_PER_SECOND = 20;
const TOTAL_PER_SECOND = 100;
const SECOND_MS = 1000;
const MESSAGE_CHARACTERS_MAX = 1000;
const PARAM_CHARACTERS_MAX = 200;
/** The approximate size of a row without its message. */
const ROW_CHARACTERS = 400;

/** Collects refusals for a second and writes them in the background. The limits keep refused requests from filling the database. */
export class Refusals {
  readonly #database: OpenDatabase;
  readonly #writer: BackgroundWriter<RefusalRow>;
  /** The refusals of the current second, by account. */
  #collected = new Map<string, RefusalRow[]>();
  #collectedCount = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Accounts that may have more rows than are kept. */
  readonly #written = new Set<string>();

  constructor(database: OpenDatabase, onFailure: (event: string, error: unknown) => void) {
    this.#database = database;
    this.#writer = new BackgroundWriter<RefusalRow>({
      insert: (batch) => unflushed(database, (kysely) => this.#insert(kysely, batch)),
      sizeOf: ({ message }) => message.length + ROW_CHARACTERS,
      waitMs: 0,
      batchRowsMax: TOTAL_PER_SECOND,
      failed: (error) => onFailure('refused requests could not be recorded', error),
    });
  }

  /** Records a refusal. If there are many in a second, only the first are kept, with the count of others of the same kind. */
  note(refusal: Refusal): void {
    const rows = this.#collected.get(refusal.accountId) ?? [];
    const same = rows.filter((row) => row.key_id === refusal.keyId && row.error_code === refusal.error.errorName);
    if (same.length >= SAME_PER_SECOND || rows.length >= ACCOUNT_PER_SECOND || this.#collectedCount >= TOTAL_PER_SECOND) {
      const last = same.at(-1);
      if (last !== undefined) last.others += 1n;
      return;
    }
    this.#collected.set(refusal.accountId, [...rows, toRow(refusal)]);
    this.#collectedCount += 1;
    this.#timer ??= setTimeout(() => this.#handOver(), SECOND_MS).unref();
  }

  /** Deletes an account's refusals beyond the newest ones, and all with a smaller id than `before`. */
  async prune(before: string | undefined): Promise<void> {
    const written = [...this.#written];
    for (const accountId of written) {
      const oldest = await this.#database.kysely
        .selectFrom('refusals')
        .select('request_id')
        .where('account_id', '=', accountId)
        .orderBy('request_id', 'desc')
        .offset(ACCOUNT_ROWS_MAX - 1)
        .limit(1)
        .executeTakeFirst();
      if (oldest !== undefined) await this.#deleteBefore(oldest.request_id, accountId);
      this.#written.delete(accountId);
    }
    if (before !== undefined) await this.#deleteBefore(before);
  }

  /** Writes all waiting rows, and stops at the first failure. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#handOver();
    return this.#writer.close();
  }

  #handOver(): void {
    for (const rows of this.#collected.values()) for (const row of rows) this.#writer.add(row);
    this.#collected = new Map();
    this.#collectedCount = 0;
    this.#timer = undefined;
  }

  async #insert(kysely: Kysely<Tables>, batch: readonly RefusalRow[]): Promise<void> {
    await kysely
      .insertInto('refusals')
      .values([...batch])
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    for (const row of batch) this.#written.add(row.account_id);
  }

  async #deleteBefore(before: string, accountId?: string): Promise<void> {
    const { kysely } = this.#database;
    const old = kysely.selectFrom('refusals').select('request_id').where('request_id', '<', before).limit(PART_ROWS);
    const some = kysely
      .deleteFrom('refusals')
      .where('request_id', 'in', accountId === undefined ? old : old.where('account_id', '=', accountId));
    await deleteInParts(some, PART_ROWS);
  }
}

function toRow({ requestId, accountId, keyId, error, model, isStreaming }: Refusal): RefusalRow {
  const { param, storableMessage } = error.details;
  return {
    request_id: requestId,
    account_id: accountId,
    key_id: keyId,
    status: BigInt(error.status),
    error_code: error.errorName,
    param: param?.slice(0, PARAM_CHARACTERS_MAX) ?? null,
    message: (storableMessage ?? error.message).slice(0, MESSAGE_CHARACTERS_MAX),
    model: model ?? null,
    is_streaming: isStreaming ? 1n : 0n,
    others: 0n,
  };
}

interface RefusalsQuery {
  /** Undefined for all accounts. */
  readonly accountId: string | undefined;
  readonly requestId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly status?: number | undefined;
  /** Only refusals with a smaller id, which came in earlier. */
  readonly before?: string | undefined;
  readonly rowsMax: number;
}

/** Returns a page of refusals, newest first, and where to continue. An account has so few that any filter is fast. */
export async function readRefusals(
  { kysely }: Pick<OpenDatabase, 'kysely'>,
  { accountId, requestId, keyId, status, before, rowsMax }: RefusalsQuery,
): Promise<PageOf<RefusalRow>> {
  let query = kysely.selectFrom('refusals').selectAll().orderBy('request_id', 'desc');
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  // A request id overrides all other filters.
  if (requestId !== undefined) return { rows: await query.where('request_id', '=', requestId).execute(), next: undefined };
  if (keyId !== undefined) query = query.where('key_id', '=', keyId);
  if (status !== undefined) query = query.where('status', '=', BigInt(status));
  if (before !== undefined) query = query.where('request_id', '<', before);
  return toPage(await query.limit(rowsMax + 1).execute(), rowsMax, (row) => row.request_id);
}

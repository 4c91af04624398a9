import { sql, type Kysely } from 'kysely';
import { recordAudit } from '../accounts/audit.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { idAt, makeId } from '../ids.ts';
import { readJob, type ExportJob } from './export-job.ts';
import { writeFilter } from './request-filter.ts';

/** What somebody wants to have. */
export interface ExportOrder extends Pick<ExportJob, 'accountId' | 'personId' | 'format' | 'zone' | 'query' | 'filter'> {
  /** Who asks, for the record. */
  readonly actor: string;
}

/** What a worker adds to a file. */
export interface ExportStep {
  /** Undefined where none of the requests that were looked at are of the filter. */
  readonly bytes: Uint8Array | undefined;
  readonly rowCount: number;
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined;
}

/** How many an account keeps: the oldest goes when there is another. */
export const EXPORTS_KEPT = 5;
/** What the record of changes calls it. */
const EXPORT_ACTION = 'export';
const KEPT_MS = 7 * DAY_MS;
/** Far longer than a step takes: a worker that gave no sign of life until then is dead. */
const DEAD_MS = 60_000;
/** A job that was taken up so often and came no further is given up. */
const TRIES_MAX = 5;
/** Deleting is writing: a few pieces at a time, so that charges never wait long for the database. */
const DROPPED_CHUNKS = 8;

/** The jobs of all accounts, in the database: every node may work on them, and has every file. */
export class ExportJobs {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Begins a job, unless one of the account is under way. */
  async create(order: ExportOrder): Promise<ExportJob | 'busy'> {
    const { accountId, personId, format, zone, query, filter, actor } = order;
    const nowMs = Date.now();
    const oldest = await this.#database
      .selectFrom('usage')
      .select('created_at')
      .where('account_id', '=', accountId)
      .where('request_id', '>=', idAt('req', filter.span.fromMs))
      .orderBy('request_id')
      .limit(1)
      .executeTakeFirst();
    const row = {
      id: makeId('export', nowMs),
      account_id: accountId,
      person_id: personId,
      format,
      zone,
      query: JSON.stringify(query),
      // What comes in while the file is made is not in it.
      filter: writeFilter({ ...filter, span: { ...filter.span, toMs: Math.min(filter.span.toMs, nowMs) } }),
      state: 'waiting' as const,
      oldest_at: oldest?.created_at ?? nowMs,
      seen_at: nowMs,
      created_at: nowMs,
    };
    const isBegun = await this.#database.transaction().execute(async (transaction) => {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('export_jobs')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows !== 1n) return false;
      await dropOldest(transaction, accountId);
      const changes = [{ field: 'format', before: null, after: format }];
      await recordAudit(transaction, { actor, action: EXPORT_ACTION, subject: accountId, changes });
      return true;
    });
    const job = isBegun ? await this.find(accountId, row.id) : undefined;
    return job ?? 'busy';
  }

  /** The jobs of an account, newest first. */
  async list(accountId: string): Promise<ExportJob[]> {
    const rows = await this.#visible(accountId).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(EXPORTS_KEPT).execute();
    return rows.map(readJob);
  }

  /** One of them; undefined when the account has none of this id. */
  async find(accountId: string, id: string): Promise<ExportJob | undefined> {
    const row = await this.#visible(accountId).where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : readJob(row);
  }

  /** Ends a job that is under way, or throws its file away. False when the account has none of this id. */
  async drop(accountId: string, id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('export_jobs')
      .set({ state: 'dropped' })
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .where('state', '<>', 'dropped')
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** A piece of a file. */
  async readChunk(id: string, n: number): Promise<Uint8Array | undefined> {
    const row = await this.#database
      .selectFrom('export_chunks')
      .select('bytes')
      .where('job_id', '=', id)
      .where('n', '=', BigInt(n))
      .executeTakeFirst();
    return row?.bytes;
  }

  /** Takes the oldest job that waits, or whose worker is dead. One that was taken up too often comes back as failed. */
  async claim(worker: string): Promise<ExportJob | undefined> {
    const nowMs = Date.now();
    const found = await this.#database
      .selectFrom('export_jobs')
      .selectAll()
      .where(IS_OPEN)
      .where((where) => where.or([where('state', '=', 'waiting'), where('seen_at', '<', BigInt(nowMs - DEAD_MS))]))
      .orderBy('created_at')
      .limit(1)
      .executeTakeFirst();
    if (found === undefined) return undefined;
    const isGivenUp = found.tries >= BigInt(TRIES_MAX);
    const ending = { state: 'failed', problem: GIVEN_UP, finished_at: nowMs, expires_at: nowMs + KEPT_MS } as const;
    const row = await this.#database
      .updateTable('export_jobs')
      .set(isGivenUp ? ending : { state: 'running', worker, seen_at: nowMs, tries: found.tries + 1n })
      .where('id', '=', found.id)
      .where('state', '=', found.state)
      .where('seen_at', '=', found.seen_at)
      .where('tries', '=', found.tries)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : readJob(row);
  }

  /** Adds a step to the file, and notes in the same transaction how far it is. Undefined when the job is no longer the worker's. */
  async advance(job: ExportJob, worker: string, { bytes, rowCount, next }: ExportStep): Promise<ExportJob | undefined> {
    const nowMs = Date.now();
    const isOver = next === undefined;
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable('export_jobs')
        .set({
          ...(isOver ? { state: 'done', finished_at: nowMs, expires_at: nowMs + KEPT_MS } : { before_id: next }),
          row_count: job.rowCount + rowCount,
          byte_count: job.byteCount + (bytes?.byteLength ?? 0),
          chunk_count: job.chunkCount + (bytes === undefined ? 0 : 1),
          tries: 0,
          seen_at: nowMs,
        })
        .where('id', '=', job.id)
        .where('state', '=', 'running')
        .where('worker', '=', worker)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      if (bytes !== undefined) await transaction.insertInto('export_chunks').values({ job_id: job.id, n: job.chunkCount, bytes }).execute();
      return readJob(row);
    });
  }

  /** Ends a job with a reason that its account is told. Undefined when it is no longer the worker's. */
  async fail(job: ExportJob, worker: string, problem: string): Promise<ExportJob | undefined> {
    const nowMs = Date.now();
    const row = await this.#database
      .updateTable('export_jobs')
      .set({ state: 'failed', problem, finished_at: nowMs, expires_at: nowMs + KEPT_MS })
      .where('id', '=', job.id)
      .where('state', '=', 'running')
      .where('worker', '=', worker)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : readJob(row);
  }

  /** Leaves what a worker has taken to the next one, at once. */
  async release(worker: string): Promise<void> {
    await this.#database
      .updateTable('export_jobs')
      .set({ state: 'waiting', tries: 0 })
      .where('worker', '=', worker)
      .where('state', '=', 'running')
      .execute();
  }

  /** Drops what has been kept for long enough, and deletes a little of what was dropped. True when there is more of it. */
  async prune(nowMs: number): Promise<boolean> {
    await this.#database
      .updateTable('export_jobs')
      .set({ state: 'dropped' })
      .where('expires_at', '<=', BigInt(nowMs))
      .where('state', '<>', 'dropped')
      .execute();
    const dropped = await this.#database.selectFrom('export_jobs').select('id').where(IS_DROPPED).limit(1).executeTakeFirst();
    if (dropped === undefined) return false;
    const chunks = this.#database.selectFrom('export_chunks').select('n').where('job_id', '=', dropped.id).limit(DROPPED_CHUNKS);
    const { numDeletedRows } = await this.#database
      .deleteFrom('export_chunks')
      .where('job_id', '=', dropped.id)
      .where('n', 'in', chunks)
      .executeTakeFirst();
    if (numDeletedRows < BigInt(DROPPED_CHUNKS)) await this.#database.deleteFrom('export_jobs').where('id', '=', dropped.id).execute();
    return true;
  }

  #visible(accountId: string) {
    return this.#database.selectFrom('export_jobs').selectAll().where('account_id', '=', accountId).where('state', '<>', 'dropped');
  }
}

/** As the indexes have it, word for word: only then does SQLite use them. */
const IS_OPEN = sql<boolean>`state IN ('waiting', 'running')`;
const IS_DROPPED = sql<boolean>`state = 'dropped'`;

const GIVEN_UP = 'The server tried five times and could not read the requests. Try again later, or choose a shorter range.';

/** Nobody must find the files of an account that is closed, or who asked for them; what they are made of is deleted soon after. */
export async function dropExports(database: Kysely<Tables>, accountId: string): Promise<void> {
  await database
    .updateTable('export_jobs')
    .set({ state: 'dropped', query: '{}', filter: '{}' })
    .where('account_id', '=', accountId)
    .execute();
  await database
    .updateTable('audit')
    .set({ actor: 'owner' })
    .where('subject', '=', accountId)
    .where('action', '=', EXPORT_ACTION)
    .execute();
}

async function dropOldest(transaction: Kysely<Tables>, accountId: string): Promise<void> {
  const kept = await transaction
    .selectFrom('export_jobs')
    .select('id')
    .where('account_id', '=', accountId)
    .where('state', '<>', 'dropped')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  const old = kept.slice(EXPORTS_KEPT).map(({ id }) => id);
  if (old.length > 0) await transaction.updateTable('export_jobs').set({ state: 'dropped' }).where('id', 'in', old).execute();
}

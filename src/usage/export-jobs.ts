import { sql, type Insertable, type Kysely } from 'kysely';
import { DELETED_USER, recordAudit } from '../accounts/audit.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { idAt, makeId } from '../ids.ts';
import { readJob, type ExportJob } from './export-job.ts';
import { writeFilter } from './request-filter.ts';

/** A request for an export. */
export interface ExportOrder extends Pick<ExportJob, 'accountId' | 'personId' | 'format' | 'zone' | 'query' | 'filter'> {
  /** The person who asked, for the audit log. */
  readonly actor: string;
}

/** What one step adds to a file. */
export interface ExportStep {
  /** Undefined when none of the scanned requests match the filter. */
  readonly bytes: Uint8Array | undefined;
  readonly rowCount: number;
  /** Where to continue; undefined at the end. */
  readonly next: string | undefined;
}

/** How many exports an account keeps. A new one replaces the oldest. */
const EXPORTS_KEPT = 5;
/** The action's name in the audit log. */
const EXPORT_ACTION = 'export';
const KEPT_MS = 7 * DAY_MS;
/** Far longer than a step takes: a worker without a heartbeat for this long is dead. */
const DEAD_MS = 60_000;
/** A job that was started this often without progress is abandoned. */
const TRIES_MAX = 5;
/** Deletes only a few chunks at a time, because deleting is writing and charges must not wait long for the database. */
const DROPPED_CHUNKS = 8;

/** The export jobs of all accounts. They live in the database, so every node can work on them and serve every file. */
export class ExportJobs {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Starts a job, unless the account already has one in progress. */
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
    const job: Insertable<Tables['export_jobs']> = {
      id: makeId('export', nowMs),
      account_id: accountId,
      person_id: personId,
      format,
      zone,
      query: JSON.stringify(query),
      // Requests that come in while the file is built are not part of it.
      filter: writeFilter({ ...filter, span: { ...filter.span, toMs: Math.min(filter.span.toMs, nowMs) } }),
      state: 'waiting',
      oldest_at: oldest?.created_at ?? nowMs,
      seen_at: nowMs,
      created_at: nowMs,
    };
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .insertInto('export_jobs')
        .values(job)
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return 'busy';
      await dropOldest(transaction, accountId);
      const changes = [{ field: 'format', before: null, after: format }];
      await recordAudit(transaction, { actor, action: EXPORT_ACTION, subject: accountId, changes });
      return readJob(row);
    });
  }

  /** Returns an account's jobs, newest first. */
  async list(accountId: string): Promise<ExportJob[]> {
    const rows = await this.#visible(accountId).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(EXPORTS_KEPT).execute();
    return rows.map(readJob);
  }

  /** Returns one job; undefined when the account has none with this id. */
  async find(accountId: string, id: string): Promise<ExportJob | undefined> {
    const row = await this.#visible(accountId).where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : readJob(row);
  }

  /** Cancels a running job, or deletes its file. Returns false when the account has no job with this id. */
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

  /** Reads one chunk of a file. */
  async readChunk(id: string, n: number): Promise<Uint8Array | undefined> {
    const row = await this.#database
      .selectFrom('export_chunks')
      .select('bytes')
      .where('job_id', '=', id)
      .where('n', '=', BigInt(n))
      .executeTakeFirst();
    return row?.bytes;
  }

  /** Claims the oldest job that is waiting or whose worker is dead. A job that was started too often comes back as failed. */
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
    const isAbandoned = found.tries >= BigInt(TRIES_MAX);
    const failure = { state: 'failed', problem: ABANDONED, finished_at: nowMs, expires_at: nowMs + KEPT_MS } as const;
    const row = await this.#database
      .updateTable('export_jobs')
      .set(isAbandoned ? failure : { state: 'running', worker, seen_at: nowMs, tries: found.tries + 1n })
      .where('id', '=', found.id)
      .where('state', '=', found.state)
      .where('seen_at', '=', found.seen_at)
      .where('tries', '=', found.tries)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : readJob(row);
  }

  /** Adds a step to the file and records the progress in the same transaction. Undefined when the job no longer belongs to the worker. */
  async advance(job: ExportJob, worker: string, { bytes, rowCount, next }: ExportStep): Promise<ExportJob | undefined> {
    const nowMs = Date.now();
    const isFinished = next === undefined;
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable('export_jobs')
        .set({
          ...(isFinished ? { state: 'done', finished_at: nowMs, expires_at: nowMs + KEPT_MS } : { before_id: next }),
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

  /** Ends a job with a reason shown to its account. Undefined when the job no longer belongs to the worker. */
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

  /** Returns a worker's jobs to the queue, so that the next one can take them at once. */
  async release(worker: string): Promise<void> {
    await this.#database
      .updateTable('export_jobs')
      .set({ state: 'waiting', tries: 0 })
      .where('worker', '=', worker)
      .where('state', '=', 'running')
      .execute();
  }

  /** Drops expired jobs and deletes a few chunks of dropped ones. Returns whether there may be more to delete. */
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

/** Must match the conditions of the partial indexes word for word, or SQLite does not use them. */
const IS_OPEN = sql<boolean>`state IN ('waiting', 'running')`;
const IS_DROPPED = sql<boolean>`state = 'dropped'`;

const ABANDONED = 'The server tried five times and could not read the requests. Try again later, or choose a shorter range.';

/** Hides all exports of a closed account, and who asked for them. Their chunks are deleted soon after. */
export async function dropExports(database: Kysely<Tables>, accountId: string): Promise<void> {
  await database
    .updateTable('export_jobs')
    .set({ state: 'dropped', query: '{}', filter: '{}' })
    .where('account_id', '=', accountId)
    .execute();
  await database
    .updateTable('audit')
    .set({ actor: DELETED_USER })
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

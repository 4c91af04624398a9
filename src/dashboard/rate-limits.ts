import { createHash } from 'node:crypto';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { deleteInParts, PART_ROWS } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { TooManyError } from './api-error.ts';

/** How many attempts of one kind are allowed per window. */
export interface RateRule {
  /** What is counted, such as `sign-in`. */
  readonly kind: string;
  readonly max: number;
  readonly windowMs: number;
  /** What else to do, where strangers can use up somebody's attempts. The wait then neither doubles nor begins anew. */
  readonly otherwise?: string;
}

/** The wait doubles at most this many times in a row. */
const STRIKES_MAX = 5;
/** Counts are deleted a day after their window has ended. */
const RETENTION_MS = DAY_MS;
/** With more rows than this, clients without one share rows, so that a client with many addresses cannot fill the disk. */
const ROWS_MAX = 200_000;
const CLIENTS_PER_SHARED_ROW = 16;
/** Rows are counted once in this many attempts. */
const COUNT_EVERY = 200;

/**
 * Counts attempts in the database, so that all nodes count together. The wait doubles each time a client exceeds the limit again.
 * Names are hashed, so the table does not reveal who tried what.
 */
export class RateLimits {
  readonly #database: Kysely<Tables>;
  readonly #rowsMax: number;
  #untilCounted = 0;
  #isFull = false;

  constructor(database: Kysely<Tables>, rowsMax = ROWS_MAX) {
    this.#database = database;
    this.#rowsMax = rowsMax;
  }

  /**
   * Counts one attempt for each rule. Throws an error with the wait if a limit is exceeded. The rules after that one do not count, so that a
   * refused client makes no rows for the subjects it names.
   */
  async admit(attempts: readonly (readonly [rule: RateRule, subject: string])[]): Promise<void> {
    for (const [rule, subject] of attempts) {
      const waitMs = await this.#count(rule, subject);
      if (waitMs > 0) throw new TooManyError(`Too many attempts. Try again in ${formatWait(waitMs)}${rule.otherwise ?? ''}.`, waitMs);
    }
  }

  /** Resets the count, after a successful attempt. */
  async forget(rule: RateRule, subject: string): Promise<void> {
    await this.#database.deleteFrom('auth_rate_limits').where('name', '=', nameOf(rule, subject)).execute();
  }

  /** Counts and decides in one statement, so that simultaneous attempts cannot all pass. */
  async #count(rule: RateRule, subject: string): Promise<number> {
    const nowMs = Date.now();
    const { max, windowMs, otherwise } = rule;
    const row = await this.#rowOf(nameOf(rule, subject));
    const isOver = sql`auth_rate_limits.window_ends_at <= ${nowMs}`;
    const doubled = sql`CAST(${nowMs} AS BIGINT) + CAST(${windowMs} AS BIGINT) * (1 << CAST(auth_rate_limits.strikes AS INTEGER))`;
    const { rows } = await sql<{ count: bigint; window_ends_at: bigint }>`
      INSERT INTO auth_rate_limits (name, count, window_ends_at, strikes) VALUES (${row}, 1, ${nowMs + windowMs}, 0)
      ON CONFLICT (name) DO UPDATE SET
        strikes = CASE WHEN NOT ${isOver} THEN auth_rate_limits.strikes
          WHEN auth_rate_limits.count > ${max} AND auth_rate_limits.strikes < ${STRIKES_MAX} THEN auth_rate_limits.strikes + 1
          WHEN auth_rate_limits.count > ${max} THEN auth_rate_limits.strikes ELSE 0 END,
        window_ends_at = CASE WHEN ${isOver} THEN ${nowMs + windowMs}
          WHEN auth_rate_limits.count = ${max} THEN ${otherwise === undefined ? doubled : sql`auth_rate_limits.window_ends_at`}
          ELSE auth_rate_limits.window_ends_at END,
        count = CASE WHEN ${isOver} THEN 1 ELSE auth_rate_limits.count + 1 END
      RETURNING count, window_ends_at`.execute(this.#database);
    const [counted] = rows;
    return counted !== undefined && counted.count > BigInt(max) ? Number(counted.window_ends_at) - nowMs : 0;
  }

  /** Returns the row to count in. Counts are never dropped for others: clients could drop their own by making many. */
  async #rowOf(name: string): Promise<RawBuilder<string>> {
    this.#untilCounted -= 1;
    if (this.#untilCounted <= 0) {
      this.#untilCounted = COUNT_EVERY;
      const { rows } = await sql<{ count: bigint }>`SELECT COUNT(*) AS count FROM auth_rate_limits`.execute(this.#database);
      this.#isFull = (rows[0]?.count ?? 0n) >= BigInt(this.#rowsMax);
    }
    if (!this.#isFull) return sql`${name}`;
    const shared = sharedNameOf(name, Math.ceil(this.#rowsMax / CLIENTS_PER_SHARED_ROW));
    return sql`COALESCE((SELECT name FROM auth_rate_limits WHERE name = ${name}), ${shared})`;
  }
}

/** Deletes counts whose windows ended more than a day ago. */
export async function deleteOldAttempts(database: Kysely<Tables>, nowMs: number): Promise<void> {
  const old = database
    .selectFrom('auth_rate_limits')
    .select('name')
    .where('window_ends_at', '<', BigInt(nowMs - RETENTION_MS));
  await deleteInParts(database.deleteFrom('auth_rate_limits').where('name', 'in', old.limit(PART_ROWS)), PART_ROWS);
}

function nameOf({ kind }: RateRule, subject: string): string {
  return `${kind}:${createHash('sha256').update(subject).digest('base64url')}`;
}

function sharedNameOf(name: string, rows: number): string {
  const [kind = ''] = name.split(':');
  return `${kind}:shared ${createHash('sha256').update(name).digest().readUInt32BE() % rows}`;
}

function formatWait(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes <= 1) return 'a minute';
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

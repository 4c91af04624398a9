import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { deleteInParts } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { TooManyError } from './api-error.ts';

/** How many attempts of one kind are allowed per window. */
export interface RateRule {
  /** What is counted, such as `sign-in`. */
  readonly kind: string;
  readonly max: number;
  readonly windowMs: number;
}

/** The wait doubles at most this many times in a row. */
const STRIKES_MAX = 5;
/** Counts are deleted a day after their window has ended. */
const RETENTION_MS = DAY_MS;
const ROWS_MAX = 200_000;
const PRUNED_ROWS = 500;
/** One in this many attempts also deletes surplus rows. */
const PRUNE_EVERY = 200;

/**
 * Counts attempts in the database, so that all nodes count together. The wait doubles each time a client exceeds the limit again.
 * Names are hashed, so the table does not reveal who tried what.
 */
export class RateLimits {
  readonly #database: Kysely<Tables>;
  #untilPruned = PRUNE_EVERY;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Counts one attempt for each rule. Throws an error with the wait if any limit is exceeded. */
  async admit(attempts: readonly (readonly [rule: RateRule, subject: string])[]): Promise<void> {
    const waits = [];
    for (const [rule, subject] of attempts) waits.push(await this.#count(rule, subject));
    await this.#prune();
    const waitMs = Math.max(0, ...waits);
    if (waitMs > 0) throw new TooManyError(`Too many attempts. Try again in ${formatWait(waitMs)}.`, waitMs);
  }

  /** Resets the count, after a successful attempt. */
  async forget(rule: RateRule, subject: string): Promise<void> {
    await this.#database.deleteFrom('auth_rate_limits').where('name', '=', nameOf(rule, subject)).execute();
  }

  /** Counts and decides in one statement, so that simultaneous attempts cannot all pass. */
  async #count(rule: RateRule, subject: string): Promise<number> {
    const nowMs = Date.now();
    const { max, windowMs } = rule;
    const isOver = sql`auth_rate_limits.window_ends_at <= ${nowMs}`;
    const { rows } = await sql<{ count: bigint; window_ends_at: bigint }>`
      INSERT INTO auth_rate_limits (name, count, window_ends_at, strikes) VALUES (${nameOf(rule, subject)}, 1, ${nowMs + windowMs}, 0)
      ON CONFLICT (name) DO UPDATE SET
        strikes = CASE WHEN NOT ${isOver} THEN auth_rate_limits.strikes
          WHEN auth_rate_limits.count > ${max} AND auth_rate_limits.strikes < ${STRIKES_MAX} THEN auth_rate_limits.strikes + 1
          WHEN auth_rate_limits.count > ${max} THEN auth_rate_limits.strikes ELSE 0 END,
        window_ends_at = CASE WHEN ${isOver} THEN ${nowMs + windowMs}
          WHEN auth_rate_limits.count = ${max} THEN CAST(${nowMs} AS BIGINT) + CAST(${windowMs} AS BIGINT) * (1 << CAST(auth_rate_limits.strikes AS INTEGER))
          ELSE auth_rate_limits.window_ends_at END,
        count = CASE WHEN ${isOver} THEN 1 ELSE auth_rate_limits.count + 1 END
      RETURNING count, window_ends_at`.execute(this.#database);
    const [row] = rows;
    return row !== undefined && row.count > BigInt(max) ? Number(row.window_ends_at) - nowMs : 0;
  }

  async #prune(): Promise<void> {
    this.#untilPruned -= 1;
    if (this.#untilPruned > 0) return;
    this.#untilPruned = PRUNE_EVERY;
    // Bounds the table: a client with more addresses than this loses its oldest counts, and cannot fill the disk.
    await sql`DELETE FROM auth_rate_limits WHERE window_ends_at < (SELECT window_ends_at FROM auth_rate_limits
      ORDER BY window_ends_at DESC LIMIT 1 OFFSET ${ROWS_MAX})`.execute(this.#database);
  }
}

/** Deletes counts whose windows ended more than a day ago. */
export async function deleteOldAttempts(database: Kysely<Tables>, nowMs: number): Promise<void> {
  const old = database
    .selectFrom('auth_rate_limits')
    .select('name')
    .where('window_ends_at', '<', BigInt(nowMs - RETENTION_MS));
  await deleteInParts(database.deleteFrom('auth_rate_limits').where('name', 'in', old.limit(PRUNED_ROWS)), PRUNED_ROWS);
}

function nameOf({ kind }: RateRule, subject: string): string {
  return `${kind}:${createHash('sha256').update(subject).digest('base64url')}`;
}

function formatWait(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes <= 1) return 'a minute';
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

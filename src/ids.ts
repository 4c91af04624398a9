import { randomBytes } from 'node:crypto';

const TIME_DIGITS = 9;
const RANDOM_BYTES = 10;
const POOL_BYTES = RANDOM_BYTES * 256;

let pool = Buffer.alloc(0);
let poolOffset = 0;
/** The beginning of the last id, reused because under load many ids start alike. */
let lastMs = -1;
let lastPrefix = '';
let lastStart = '';

/**
 * Makes an id such as `req_0mhx3f9k2…`. The time comes first, so ids increase and the database appends instead of scattering. Then come
 * 80 random bits, drawn in bulk because one system call per request would be noticeable.
 */
export function makeId(prefix: string, nowMs: number = Date.now()): string {
  if (poolOffset === pool.length) {
    pool = randomBytes(POOL_BYTES);
    poolOffset = 0;
  }
  const random = pool.toString('hex', poolOffset, poolOffset + RANDOM_BYTES);
  poolOffset += RANDOM_BYTES;
  if (nowMs !== lastMs || prefix !== lastPrefix) {
    lastMs = nowMs;
    lastPrefix = prefix;
    lastStart = idAt(prefix, nowMs);
  }
  return lastStart + random;
}

/** Returns when an id was made. */
export function timeOf(id: string): number {
  const start = id.indexOf('_') + 1;
  return Number.parseInt(id.slice(start, start + TIME_DIGITS), 36);
}

/** Returns the beginning of every id made at this moment. Ids made before are smaller, ids made after are larger. */
export function idAt(prefix: string, atMs: number): string {
  return `${prefix}_${Math.max(0, atMs).toString(36).padStart(TIME_DIGITS, '0')}`;
}

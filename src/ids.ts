import { randomBytes } from 'node:crypto';

const TIME_DIGITS = 9;
const RANDOM_BYTES = 10;
const POOL_BYTES = RANDOM_BYTES * 256;

let pool = Buffer.alloc(0);
let poolOffset = 0;

/**
 * An id such as `req_0mhx3f9k2…`: its time comes first, so ids grow and the database appends instead of scattering,
 * then 80 random bits. Randomness is drawn in bulk because one system call per request would be felt.
 */
export function makeId(prefix: string, nowMs: number = Date.now()): string {
  if (poolOffset === pool.length) {
    pool = randomBytes(POOL_BYTES);
    poolOffset = 0;
  }
  const random = pool.toString('hex', poolOffset, poolOffset + RANDOM_BYTES);
  poolOffset += RANDOM_BYTES;
  return `${prefix}_${nowMs.toString(36).padStart(TIME_DIGITS, '0')}${random}`;
}

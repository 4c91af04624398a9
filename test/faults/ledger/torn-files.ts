import { randomFillSync } from 'node:crypto';
import type { Random } from '../../simulator/random.ts';

/** The format of SQLite's write-ahead log: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_NUMBER_AT = 0;
const SIZE_AFTER_COMMIT_AT = 4;
const FRAME_SALTS_AT = 8;
const PAGE_SIZE_AT = 8;
const SALTS_AT = 16;
const GARBAGE_BYTES_MAX = 20_000;

/** Returns the two salts, which change when the log restarts, as one string; undefined if there is no log yet. */
export function readSalts(log: Uint8Array): string | undefined {
  return log.length < HEADER_BYTES ? undefined : Buffer.from(log.subarray(SALTS_AT, SALTS_AT + 8)).toString('hex');
}

/** Returns the log with garbage after its last commit: data that was not synced yet may be anything. */
export function cutLog(log: Uint8Array, random: Random): Uint8Array {
  const garbage = randomFillSync(new Uint8Array(random.below(GARBAGE_BYTES_MAX)));
  // Half a frame that begins like a real one is the hardest case.
  const end = commitEnds(log).at(-1) ?? Math.min(HEADER_BYTES, log.length);
  const begin = log.subarray(end, end + random.below(FRAME_HEADER_BYTES + 100));
  return Buffer.concat([log.subarray(0, end), begin, garbage]);
}

/** Returns a database file in which each page comes from one of two moments. */
export function mixPages(earlier: Uint8Array, later: Uint8Array, random: Random): Uint8Array {
  const pageBytes = readPageBytes(later);
  const mixed = Buffer.from(random.below(2) === 0 || earlier.length > later.length ? later : later.subarray(0, earlier.length));
  for (let at = 0; at < Math.min(earlier.length, mixed.length); at += pageBytes)
    if (random.below(2) === 0) mixed.set(earlier.subarray(at, at + pageBytes), at);
  return mixed;
}

/**
 * Returns the log without its last transaction. Undefined if there is none, or if one of its pages is in the database file, which means it
 * was synced.
 */
export function loseCommit(database: Uint8Array, log: Uint8Array): Uint8Array | undefined {
  const [before, last] = commitEnds(log).slice(-2);
  if (before === undefined || last === undefined) return undefined;
  const pageBytes = readPageBytes(database);
  for (let at = before; at < last; at += FRAME_HEADER_BYTES + pageBytes) {
    const pageAt = (viewOf(log).readUInt32BE(at + PAGE_NUMBER_AT) - 1) * pageBytes;
    const page = log.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + pageBytes);
    if (viewOf(page).equals(database.subarray(pageAt, pageAt + pageBytes))) return undefined;
  }
  return log.subarray(0, before);
}

/** Returns the end of each frame in this log that ends a transaction. Frames left from before the restart have other salts. */
function commitEnds(log: Uint8Array): number[] {
  const view = viewOf(log);
  const salts = readSalts(log);
  if (salts === undefined) return [];
  const ends: number[] = [];
  const frameBytes = FRAME_HEADER_BYTES + view.readUInt32BE(PAGE_SIZE_AT);
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    if (view.toString('hex', at + FRAME_SALTS_AT, at + FRAME_SALTS_AT + 8) !== salts) break;
    if (view.readUInt32BE(at + SIZE_AFTER_COMMIT_AT) !== 0) ends.push(at + frameBytes);
  }
  return ends;
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readPageBytes(database: Uint8Array): number {
  const bytes = viewOf(database).readUInt16BE(16);
  return bytes === 1 ? 65_536 : bytes;
}

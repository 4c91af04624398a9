import { totalmem } from 'node:os';
import { GatewayError } from '../errors.ts';

/** Shorter bodies are accepted without adding up the others: the limits of their keys bound them. */
const LARGE_BYTES = 100_000;
/**
 * A body takes two to six times its size until its answer has ended: as text, parsed, and encoded for the provider. A body that is
 * sent several times at once counts that many times.
 */
const SHARE_OF_MEMORY = 1 / 16;
const TOTAL_BYTES_MIN = 64_000_000;

/** The total size allowed for all bodies together. The available memory may be that of a container. */
export const TOTAL_BYTES_MAX = Math.max(TOTAL_BYTES_MIN, Math.floor(memoryBytes() * SHARE_OF_MEMORY));

function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** A request whose body, including media fetched for it, takes memory until its answer has ended. */
export interface BodyHolder {
  bodyBytes: number;
}

/**
 * Reserves memory for a body that has grown to this length, or refuses it. Bodies are read before the limits of their key are checked,
 * so without this one client with many large bodies could take all memory of the machine.
 */
export function reserveMemory(holder: BodyHolder, bytes: number, all: Iterable<BodyHolder>, totalBytesMax = TOTAL_BYTES_MAX): void {
  const before = holder.bodyBytes;
  holder.bodyBytes = bytes;
  if (bytes < LARGE_BYTES) return;
  let sum = 0;
  for (const each of all) sum += each.bodyBytes;
  if (sum <= totalBytesMax) return;
  holder.bodyBytes = before;
  throw new GatewayError('too_busy', 'Too many large requests are in progress. Try again in a moment, or send fewer at once.', {
    retryAfterSeconds: 1,
  });
}

import { totalmem } from 'node:os';
import { GatewayError } from '../errors.ts';

/** Shorter ones are taken without a look at the others: what they need is bounded by the limits of their keys. */
const LARGE_BYTES = 100_000;
/** A body takes two to six times its size until its answer has ended: as text, parsed, and as it is sent on. One that is sent several times at once counts as often. */
const SHARE_OF_MEMORY = 1 / 16;
const ROOM_BYTES_MIN = 64_000_000;

/** How long all bodies together may be. The memory that there is may be that of a container. */
export const ROOM_BYTES = Math.max(ROOM_BYTES_MIN, Math.floor(memoryBytes() * SHARE_OF_MEMORY));

function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Somebody whose body, with the media that was fetched for it, takes room until the answer has ended. */
export interface Guest {
  bodyBytes: number;
}

/**
 * Gives a body that has grown to this length its room, or refuses it. Bodies are read before a key's limits are known to be kept, so
 * one caller with many large ones could take all memory of the machine.
 */
export function takeRoom(guest: Guest, bytes: number, all: Iterable<Guest>, roomBytes = ROOM_BYTES): void {
  const before = guest.bodyBytes;
  guest.bodyBytes = bytes;
  if (bytes < LARGE_BYTES) return;
  let sum = 0;
  for (const each of all) sum += each.bodyBytes;
  if (sum <= roomBytes) return;
  guest.bodyBytes = before;
  throw new GatewayError('too_busy', 'Too many large requests are under way. Try again in a moment, or send less at once.', {
    retryAfterSeconds: 1,
  });
}

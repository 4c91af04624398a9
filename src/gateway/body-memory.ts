import { GatewayError } from '../errors.ts';
import type { HeldBytes } from '../http/held-bytes.ts';

/** Requests that hold less than this go on beside large ones that have used up their share. */
const LARGE_BYTES = 100_000;

/** A request that holds bytes until it has ended: its body, media fetched for it, and a reply that is gathered. */
export interface BytesHolder {
  heldBytes: number;
}

/**
 * Counts more bytes of a body, or refuses them. Bodies are read before the limits of their key are checked, so without this a few clients
 * could take all memory of the machine. A negative number frees bytes.
 */
export function holdBody(holder: BytesHolder, bytes: number, held: HeldBytes): void {
  hold(holder, bytes, held, holder.heldBytes + bytes < LARGE_BYTES ? 2 * held.max : held.max);
}

/** Counts more bytes of a reply, or refuses them. */
export function holdReply(holder: BytesHolder, bytes: number, held: HeldBytes): void {
  hold(holder, bytes, held, 2 * held.max);
}

function hold(holder: BytesHolder, bytes: number, held: HeldBytes, max: number): void {
  if (bytes > 0 && held.total + bytes > max) {
    throw new GatewayError('too_busy', 'Too many large requests are in progress. Try again in a moment, or send fewer at once.', {
      retryAfterSeconds: 1,
    });
  }
  // A call that has ended holds nothing, whatever is freed after that.
  const change = Math.max(bytes, -holder.heldBytes);
  held.add(change);
  holder.heldBytes += change;
}

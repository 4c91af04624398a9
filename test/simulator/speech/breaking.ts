import type { Recorded } from '../recorded.ts';
import type { JsonObject } from '../wire.ts';

/** The same answer, broken: the body in its middle, the stream with an error event after some of its text. */
export function breakOff({ body, events }: Recorded, error: JsonObject): Recorded {
  return { body: body.slice(0, body.length / 2), events: [...events.slice(0, EVENTS_KEPT), error] };
}

/** Enough for the first words in every dialect, but not for the end. */
const EVENTS_KEPT = 5;

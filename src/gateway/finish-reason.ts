import { objectsOf, type JsonObject } from '../openai/types.ts';

/** Returns the finish reason of the first choice, as the client sees it. */
export function finishReasonOf({ choices }: JsonObject): string | undefined {
  const reason = objectsOf(choices).find(({ index }) => index === 0)?.['finish_reason'];
  return typeof reason === 'string' ? reason : undefined;
}

/** Contained in every event that ends a choice and in no other: quotes inside texts are escaped. */
export const ENDING = '"finish_reason":"';

/** Finds the finish reason in events on their way to the client; undefined while the choice goes on. Parses only events that end a choice. */
export function finishReasonIn(events: string): string | undefined {
  for (let at = events.indexOf(ENDING); at !== -1; at = events.indexOf(ENDING, at)) {
    // An event is one line, and the ending is somewhere in it.
    const start = events.lastIndexOf('\n', at) + 1 + 'data: '.length;
    at = events.indexOf('\n', at);
    const reason = finishReasonOf(JSON.parse(events.slice(start, at)) as JsonObject);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

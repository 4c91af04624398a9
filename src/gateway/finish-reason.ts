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
  if (!events.includes(ENDING)) return undefined;
  for (const event of events.split('\n\n')) {
    if (!event.includes(ENDING)) continue;
    const reason = finishReasonOf(JSON.parse(event.slice('data: '.length)) as JsonObject);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

import { isObject, type JsonObject } from '../openai/types.ts';

/** Why the first choice of an answer ended, by what the caller is told. */
export function finishReasonOf({ choices }: JsonObject): string | undefined {
  const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const first = all.find((choice): choice is JsonObject => isObject(choice) && choice['index'] === 0);
  const reason = first?.['finish_reason'];
  return typeof reason === 'string' ? reason : undefined;
}

/** What every event that ends a choice contains, and no other: quotes inside of texts are escaped. */
export const ENDING = '"finish_reason":"';

/** The same in events on their way to the caller; undefined while the choice goes on. Only events that end a choice are parsed. */
export function finishReasonIn(events: string): string | undefined {
  if (!events.includes(ENDING)) return undefined;
  for (const event of events.split('\n\n')) {
    if (!event.includes(ENDING)) continue;
    const reason = finishReasonOf(JSON.parse(event.slice('data: '.length)) as JsonObject);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

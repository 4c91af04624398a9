import { isObject } from '../../openai/types.ts';

/** Where an answer broke off: what Google wants back to go on, and how many tool calls the caller has got so far. */
export interface Continuation {
  readonly token: string;
  readonly toolCalls: number;
}

/** As the gate keeps it, without looking inside. */
export function writeContinuation(continuation: Continuation): string {
  return JSON.stringify(continuation);
}

/** Reads back what `writeContinuation` wrote. */
export function readContinuation(text: string): Continuation {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new TypeError('A continuation of another dialect was given back');
  return { token: String(value['token']), toolCalls: Number(value['toolCalls']) };
}

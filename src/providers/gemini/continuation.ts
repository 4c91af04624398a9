import { isObject, type JsonObject } from '../../openai/types.ts';
import type { ReplyContext } from '../provider.ts';

/** Where an answer broke off: what Google wants back to go on, how many tool calls and characters the caller has got so far, and what a stream has yet to cite. */
export interface Continuation {
  readonly token: string;
  readonly toolCalls: number;
  readonly textLength: number;
  readonly annotations?: readonly JsonObject[];
}

/** As the gate keeps it, without looking inside. */
export function writeContinuation(continuation: Continuation): string {
  return JSON.stringify(continuation);
}

/** Reads back what `writeContinuation` wrote. */
export function readContinuation(text: string): Continuation {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new TypeError('A continuation of another dialect was given back');
  const { token, toolCalls, textLength = 0, annotations } = value;
  return {
    token: String(token),
    toolCalls: Number(toolCalls),
    textLength: Number(textLength),
    ...(Array.isArray(annotations) ? { annotations: annotations.filter(isObject) } : {}),
  };
}

/** How much the caller had got before the answer that is read. */
export function measureEarlier({ continuation }: ReplyContext): Omit<Continuation, 'token'> {
  return continuation === undefined ? { toolCalls: 0, textLength: 0 } : readContinuation(continuation);
}

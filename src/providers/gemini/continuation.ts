import { isObject, type JsonObject } from '../../openai/types.ts';
import type { ReplyContext } from '../dialect.ts';

/**
 * Where an answer broke off: the token Google needs to continue, the tool calls and characters sent so far, and
 * citations a stream has not sent yet.
 */
export interface Continuation {
  readonly token: string;
  readonly toolCalls: number;
  readonly textLength: number;
  readonly annotations?: readonly JsonObject[];
}

/** Serialises a continuation. The gateway stores it without looking inside. */
export function writeContinuation(continuation: Continuation): string {
  return JSON.stringify(continuation);
}

/** Parses what `writeContinuation` wrote. */
export function readContinuation(text: string): Continuation {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new TypeError('The continuation belongs to another dialect');
  const { token, toolCalls, textLength = 0, annotations } = value;
  return {
    token: String(token),
    toolCalls: Number(toolCalls),
    textLength: Number(textLength),
    ...(Array.isArray(annotations) ? { annotations: annotations.filter(isObject) } : {}),
  };
}

/** Returns how much of the answer the caller received before this part. */
export function measureEarlier({ continuation }: ReplyContext): Omit<Continuation, 'token'> {
  return continuation === undefined ? { toolCalls: 0, textLength: 0 } : readContinuation(continuation);
}

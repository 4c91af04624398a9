import { isObject, type JsonObject } from '../openai/types.ts';

/**
 * The schema of a custom tool in translated dialects. A custom tool takes free text, which they do not support, so it
 * becomes a function with that text as its only field.
 */
export const FREE_TEXT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

/** Returns the free text such a function was called with. */
export function readFreeText(input: unknown): string {
  const text = isObject(input) ? input['input'] : undefined;
  return typeof text === 'string' ? text : JSON.stringify(input ?? {});
}

/** True when a custom tool restricts its text by a grammar, which only the relayed dialect can enforce. */
export function hasGrammar({ format }: JsonObject): boolean {
  return isObject(format) && format['type'] !== 'text';
}

import { isObject, type JsonObject } from '../openai/types.ts';

/** A custom tool takes free text, which translated dialects do not have: there it is a function with that text as its one field. */
export const FREE_TEXT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

/** The text that such a function was called with. */
export function readFreeText(input: unknown): string {
  const text = isObject(input) ? input['input'] : undefined;
  return typeof text === 'string' ? text : JSON.stringify(input ?? {});
}

/** Whether a custom tool wants its text by a grammar, which only the relayed dialect can hold a model to. */
export function hasGrammar({ format }: JsonObject): boolean {
  return isObject(format) && format['type'] !== 'text';
}

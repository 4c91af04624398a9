import { isObject, type JsonObject } from '../openai/types.ts';
import { readObject } from './parse-object.ts';

/**
 * The schema of a custom tool in translated dialects. A custom tool takes free text, which they do not support, so it
 * becomes a function with that text as its only field.
 */
export const FREE_TEXT: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

/** Returns the free text such a function was called with. */
export function readFreeText(input: unknown): string {
  const text = isObject(input) ? input['input'] : undefined;
  return typeof text === 'string' ? text : withoutText(JSON.stringify(input ?? {}));
}

/** Returns an input that has no text as it is. An empty one was cut off before its text began. */
function withoutText(json: string): string {
  return json === '{}' ? '' : json;
}

/** The end of JSON that was cut off: part of an escape sequence, or the quote after the text. */
const UNFINISHED = /(?:\\u?[\dA-Fa-f]{0,3}|")$/u;

/** Returns the free text in the JSON of an input. If it was cut off by the output limit, that is the text so far. */
export function readFreeJson(json: string): string {
  return parseText(json) ?? parseText(`${json}"}`) ?? parseText(`${json.replace(UNFINISHED, '')}"}`) ?? withoutText(json);
}

function parseText(json: string): string | undefined {
  const text = readObject(json)?.['input'];
  return typeof text === 'string' ? text : undefined;
}

/** True when a custom tool restricts its text by a grammar, which only the relayed dialect can enforce. */
export function hasGrammar({ format }: JsonObject): boolean {
  return isObject(format) && format['type'] !== 'text';
}

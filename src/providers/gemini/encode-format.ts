import { isObject, objectOf, type JsonObject } from '../../openai/types.ts';
import { readToolChoice } from '../tool-choice.ts';
import { encodeSchema } from './encode-schema.ts';
import type { Draft } from './draft.ts';

/** How the response format is requested. Some models do not support it together with functions. */
export interface OutputPlan {
  /** Fields of the generation config. */
  readonly fields: JsonObject;
  /** The instruction for a model that does not accept the fields. */
  readonly instruction: string | undefined;
  readonly hasTools: boolean;
}

/** Decides how to request JSON. */
export function planOutput(draft: Draft): OutputPlan {
  const { chat, capabilities, dropped } = draft;
  const hasTools = Array.isArray(chat['tools']) && chat['tools'].length > 0;
  const fields = encodeFormat(draft);
  if (fields === undefined) return { fields: {}, instruction: undefined, hasTools };
  if (!hasTools) return { fields, instruction: undefined, hasTools };
  const { mode } = readToolChoice(chat);
  // The functions must not be called, so leaving them out loses less.
  if (mode === 'none') return { fields, instruction: undefined, hasTools: false };
  if (capabilities.hasJsonWithTools && mode === 'auto') return { fields, instruction: undefined, hasTools };
  dropped.add('response_format');
  // A model that must call a function writes no answer that could have a format.
  return { fields: {}, instruction: mode === 'auto' ? describeFormat(fields) : undefined, hasTools };
}

function encodeFormat({ chat, dropped }: Draft): JsonObject | undefined {
  const format = chat['response_format'];
  if (!isObject(format) || format['type'] === 'text') return undefined;
  const responseMimeType = 'application/json';
  const named = objectOf(format['json_schema']);
  if (!isObject(named['schema'])) return { responseMimeType };
  const { schema, lost } = encodeSchema(named['schema']);
  for (const keyword of lost) dropped.add(`response_format.json_schema.schema.${keyword}`);
  return { responseMimeType, responseJsonSchema: schema };
}

function describeFormat({ responseJsonSchema: schema }: JsonObject): string {
  const plain = 'Write your final answer as one JSON object, with no text before or after it.';
  return schema === undefined ? plain : `${plain} It must follow this JSON schema: ${JSON.stringify(schema)}`;
}

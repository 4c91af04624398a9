import { objectOf, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import type { Grammar } from '../anthropic/encode-schema.ts';
import { jsonFormat, jsonInstruction, schemaOf } from '../json-instruction.ts';

/** How the model is made to answer in JSON. */
export interface Format {
  readonly system: readonly JsonObject[];
  readonly outputConfig: JsonObject;
  readonly dropped: readonly string[];
}

/** Encodes the response format. A schema that cannot be enforced is described in the prompt, and reported to the caller as such. */
export function encodeFormat(chat: ChatRequest, grammar: Grammar): Format {
  const format = jsonFormat(chat);
  if (format === undefined) return { system: [], outputConfig: {}, dropped: [] };
  const schema = schemaOf(format);
  const enforced = schema === undefined ? undefined : grammar.encode(schema);
  if (enforced === undefined) {
    return {
      system: [{ text: jsonInstruction(format) }],
      outputConfig: {},
      dropped: schema === undefined ? [] : ['response_format.json_schema'],
    };
  }
  const named = objectOf(format['json_schema']);
  const { name, description } = named;
  const jsonSchema = { schema: JSON.stringify(enforced), name, ...(typeof description === 'string' ? { description } : {}) };
  return { system: [], outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } }, dropped: [] };
}

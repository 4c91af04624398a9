import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';

/** Returns the prompt text that asks for JSON, and for a given schema, where the provider has no field for it. */
export function jsonInstruction(format: JsonObject): string {
  const schema = schemaOf(format);
  const task = 'Answer with one JSON object and nothing else: no other text, no code fence.';
  return schema === undefined ? task : `${task} It must match this JSON schema:\n${JSON.stringify(schema)}`;
}

/** Returns the response format if the request asks for JSON. */
export function jsonFormat(chat: ChatRequest): JsonObject | undefined {
  const format = chat['response_format'];
  return isObject(format) && format['type'] !== 'text' ? format : undefined;
}

/** Returns the schema of a response format, if it has one. */
export function schemaOf(format: JsonObject): JsonObject | undefined {
  const named = format['json_schema'];
  return isObject(named) && isObject(named['schema']) ? named['schema'] : undefined;
}

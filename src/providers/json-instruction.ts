import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';

/** What to tell a model in words that a provider cannot tell it by a field: to answer with JSON, and by which schema. */
export function jsonInstruction(format: JsonObject): string {
  const schema = schemaOf(format);
  const task = 'Answer with one JSON object and nothing else: no other text, no code fence.';
  return schema === undefined ? task : `${task} It must match this JSON schema:\n${JSON.stringify(schema)}`;
}

/** The format that a request asks for, where that is JSON. */
export function jsonFormat(chat: ChatRequest): JsonObject | undefined {
  const format = chat['response_format'];
  return isObject(format) && format['type'] !== 'text' ? format : undefined;
}

/** The schema of a format that has one. */
export function schemaOf(format: JsonObject): JsonObject | undefined {
  const named = format['json_schema'];
  return isObject(named) && isObject(named['schema']) ? named['schema'] : undefined;
}

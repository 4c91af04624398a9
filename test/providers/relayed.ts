import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { openai } from '../../src/providers/openai.ts';

/** The least that a request says. */
export const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

/** Returns the body that a host gets for these fields of a request, and the fields reported as lost. */
export function encode(
  id: string,
  chat: Partial<ChatRequest>,
  model = 'theirs',
): { readonly body: JsonObject; readonly dropped: readonly string[] | undefined } {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS[id] };
  const { body, dropped } = openai.encodeRequest({ ...CHAT, ...chat }, target);
  return { body: JSON.parse(body) as JsonObject, dropped };
}

/** The context of two choices from an undescribed host, which may omit anything hosts are known to omit. */
export const CONTEXT = {
  modelId: 'ours',
  wantsUsage: false,
  chat: { model: 'ours', messages: [], n: 2 },
  requestId: 'req_1',
  createdSeconds: 7,
};
/** The fields every chunk starts with. */
export const ENVELOPE = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'theirs' };

/** Returns what callers get for chunks with one choice each. */
export function decode(...choices: readonly unknown[]): { id: unknown; created: unknown; object: unknown; choices: JsonObject[] }[] {
  const decoder = openai.decodeStream(CONTEXT);
  const chunks = choices.map((choice) => JSON.stringify({ ...ENVELOPE, choices: [choice] }));
  return chunks.flatMap((data) => decoder.push({ name: undefined, data })).map((text) => JSON.parse(text) as ReturnType<typeof decode>[0]);
}

/** Returns what callers get for the deltas of one choice, the last of which ends it. */
export function deltas(...given: readonly JsonObject[]): unknown[] {
  const last = given.length - 1;
  const choices = given.map((delta, index) => ({ index: 0, delta, finish_reason: index === last ? 'tool_calls' : null }));
  return decode(...choices).map((chunk) => chunk.choices[0]?.['delta']);
}

/** A tool call that a host left incomplete. */
export const call = (name: string, json: unknown, more: JsonObject = {}): JsonObject => ({ function: { name, arguments: json }, ...more });
/** The same tool call as callers get it. */
export const made = (index: number, name: string, json: string): JsonObject => ({
  index,
  id: `call_req_1_${index}`,
  type: 'function',
  function: { name, arguments: json },
});

import type { JsonObject } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';

/** A host that no row describes, in all the ways in which hosts are known to forget something. */
export const CONTEXT = { modelId: 'ours', wantsUsage: false, chat: { model: 'ours', messages: [] }, requestId: 'req_1', createdSeconds: 7 };
/** What every chunk begins with. */
export const ENVELOPE = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'theirs' };

/** What callers get of chunks with one choice each. */
export function decode(...choices: readonly unknown[]): { id: unknown; created: unknown; object: unknown; choices: JsonObject[] }[] {
  const decoder = openai.decodeStream(CONTEXT);
  const chunks = choices.map((choice) => JSON.stringify({ ...ENVELOPE, choices: [choice] }));
  return chunks.flatMap((data) => decoder.push({ name: undefined, data })).map((text) => JSON.parse(text) as ReturnType<typeof decode>[0]);
}

/** What callers get of the deltas of one choice, the last of which is its end. */
export function deltas(...given: readonly JsonObject[]): unknown[] {
  const last = given.length - 1;
  const choices = given.map((delta, index) => ({ index: 0, delta, finish_reason: index === last ? 'tool_calls' : null }));
  return decode(...choices).map((chunk) => chunk.choices[0]?.['delta']);
}

/** A tool call as a host may forget to complete it. */
export const call = (name: string, json: unknown, more: JsonObject = {}): JsonObject => ({ function: { name, arguments: json }, ...more });
/** The same as callers get it. */
export const made = (index: number, name: string, json: string): JsonObject => ({
  index,
  id: `call_req_1_${index}`,
  type: 'function',
  function: { name, arguments: json },
});

import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts';
import type { ReplyContext, StreamDecoder } from '../../../src/providers/dialect.ts';
import { messageEvents } from '../../simulator/anthropic-wire.ts';
import { contextFor, seeReply, seeStream, type Seen } from '../drive.ts';

/** Answers for the decoder tests, and the pieces they are made of. */

export const CHAT: ChatRequest = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [
    { type: 'function', function: { name: 'the.weather' } },
    { type: 'custom', custom: { name: 'say' } },
  ],
};
export const CONTEXT = contextFor(CHAT);
export const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 5,
  output_tokens: 7,
  output_tokens_details: { thinking_tokens: 2 },
};
export const WIRE_USAGE = {
  prompt_tokens: 18,
  completion_tokens: 7,
  total_tokens: 25,
  prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

export interface Message extends JsonObject {
  readonly content: JsonObject[];
  readonly usage: JsonObject;
}

export const message = (content: JsonObject[], changes: JsonObject = {}): Message => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
  ...changes,
});

export function readWhole(value: unknown, context: ReplyContext = CONTEXT): Seen {
  return seeReply(anthropic.decodeReply(JSON.stringify(value), context));
}

export function feed(events: readonly unknown[], context: ReplyContext = CONTEXT): { decoder: StreamDecoder; chunks: string[] } {
  const decoder = anthropic.decodeStream(context);
  return { decoder, chunks: events.flatMap((event) => [...decoder.push({ name: undefined, data: JSON.stringify(event) })]) };
}

export function readStream(value: Message, context: ReplyContext = CONTEXT): Seen {
  const { decoder, chunks } = feed(messageEvents({ body: value }), context);
  return seeStream(decoder, chunks, { isContinued: context.continuation !== undefined });
}

export const toolUse = (id: string, name: string, input: JsonObject): JsonObject => ({ type: 'tool_use', id, name, input });
export const text = (value: string): JsonObject => ({ type: 'text', text: value });
export const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };

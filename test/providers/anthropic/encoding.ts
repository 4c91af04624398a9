import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts';
import type { Target, UpstreamRequest } from '../../../src/providers/dialect.ts';

/** Requests for the encoder tests, and the pieces they are made of. */

export const CHAT: ChatRequest = { model: 'anthropic/claude', messages: [{ role: 'user', content: 'Hi' }] };
export const TARGET: Target = {
  baseUrl: 'https://api.anthropic.com/v1',
  apiKey: 'sk-1',
  model: 'claude-opus-5',
  outputTokensMax: undefined,
};
export const WEATHER = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
export const TIME = { type: 'function', function: { name: 'time' } };
export const LOOP = [
  { role: 'user', content: 'Weather?' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'call_1', content: 'Sun' },
];

export function encode(chat: Partial<ChatRequest>, model = 'claude-opus-5', target: Partial<Target> = {}): UpstreamRequest {
  return anthropic.encodeRequest({ ...CHAT, ...chat }, { ...TARGET, model, ...target });
}

export function bodyOf(request: UpstreamRequest): EncodedBody {
  return JSON.parse(request.body) as EncodedBody;
}

/** A body, as far as the tests look into it. */
export interface EncodedBody extends JsonObject {
  readonly messages: readonly (JsonObject & { readonly content?: readonly JsonObject[] })[];
}

export const MARK = { cache_control: { type: 'ephemeral' } };

export const text = (value: string): JsonObject => ({ type: 'text', text: value });
export const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content });
export const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
export const call = (id: string, name = 'weather', args = '{"a":1}'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
export const toolUse = (id: string, input: JsonObject = { a: 1 }, name = 'weather'): JsonObject => ({ type: 'tool_use', id, name, input });
export const result = (id: string, value: string): JsonObject => ({ type: 'tool_result', tool_use_id: id, content: [text(value)] });

export function encodeMessages(messages: JsonObject[], target: Partial<Target> = {}, chat: Partial<ChatRequest> = {}): UpstreamRequest {
  return anthropic.encodeRequest({ model: 'm', messages, ...chat }, { ...TARGET, ...target });
}

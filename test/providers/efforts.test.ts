import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/compatible.ts';
import { openai } from '../../src/providers/openai.ts';

const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'];

function encode(id: string, effort: string, model: string): { body: JsonObject; dropped: readonly string[] | undefined } {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS[id] };
  const { body, dropped } = openai.encodeRequest({ ...CHAT, reasoning_effort: effort }, target);
  return { body: JSON.parse(body) as JsonObject, dropped };
}

describe('reasoning_effort', () => {
  test.each<[string, string, readonly (string | undefined)[]]>([
    ['groq', 'openai/gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
    ['groq', 'qwen/qwen3-32b', ['none', ...EFFORTS.slice(1).map(() => 'default')]],
    ['groq', 'another', ['none', 'low', 'low', 'medium', 'high', 'high', 'high', 'default']],
    ['cerebras', 'gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
    ['xai', 'grok-4.5', ['low', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
    ['xai', 'grok-4.3', ['none', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
  ])('to %s is mapped to what %s accepts', (id, model, expected) => {
    const sent = EFFORTS.map((effort) => encode(id, effort, model));
    expect(sent.map(({ body }) => body['reasoning_effort'])).toEqual([...expected]);
    expect(sent.filter(({ dropped }) => dropped !== undefined)).toEqual([]);
  });

  test.each<[string, string, JsonObject]>([
    ['kimi-k2.6', 'high', { thinking: { type: 'enabled' } }],
    ['kimi-k2.6', 'none', { thinking: { type: 'disabled' } }],
    ['kimi-k2.6', 'default', {}],
    ['kimi-k3', 'xhigh', { reasoning_effort: 'max' }],
    ['kimi-k3', 'high', { reasoning_effort: 'high' }],
  ])('for %s with value %s is sent in that model’s form', (model, effort, expected) => {
    expect(encode('moonshot', effort, model)).toEqual({ body: { ...CHAT, model, ...expected }, dropped: undefined });
  });
});

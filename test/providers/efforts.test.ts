import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { CHAT, encode } from './relayed.ts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'];

describe('reasoning_effort', () => {
  test.each<[string, string, readonly (string | undefined)[]]>([
    ['groq', 'openai/gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
    ['groq', 'qwen/qwen3-32b', ['none', ...EFFORTS.slice(1).map(() => 'default')]],
    ['groq', 'another', ['none', 'low', 'low', 'medium', 'high', 'high', 'high', 'default']],
    ['cerebras', 'gpt-oss-120b', ['low', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
    ['xai', 'grok-4.5', ['low', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
    ['xai', 'grok-4.6', ['low', 'low', 'low', 'medium', 'high', 'xhigh', 'xhigh', undefined]],
    ['mistral', 'mistral-medium-3-5', ['none', 'none', 'high', 'high', 'high', 'high', 'high', undefined]],
    ['mistral', 'zai-glm-5-3', ['low', 'low', 'low', 'high', 'high', 'max', 'max', undefined]],
    ['zai', 'glm-5.3-flash', ['low', 'low', 'low', 'high', 'high', 'max', 'max', undefined]],
    ['zai', 'glm-5.2', [undefined, 'high', 'high', 'high', 'high', 'max', 'max', undefined]],
    ['xai', 'grok-4.3', ['none', 'low', 'low', 'medium', 'high', 'high', 'high', undefined]],
  ])('to %s is mapped to what %s accepts', (id, model, expected) => {
    const sent = EFFORTS.map((effort) => encode(id, { reasoning_effort: effort }, model));
    expect(sent.map(({ body }) => body['reasoning_effort'])).toEqual([...expected]);
    expect(sent.filter(({ dropped }) => dropped !== undefined)).toEqual([]);
  });

  test.each<[string, string, string, JsonObject]>([
    ['moonshot', 'kimi-k2.6', 'high', { thinking: { type: 'enabled' } }],
    ['moonshot', 'kimi-k2.6', 'none', { thinking: { type: 'disabled' } }],
    ['moonshot', 'kimi-k2.6', 'default', {}],
    ['moonshot', 'kimi-k3', 'xhigh', { reasoning_effort: 'max' }],
    ['moonshot', 'kimi-k3', 'high', { reasoning_effort: 'high' }],
    ['zai', 'glm-5.2', 'none', { thinking: { type: 'disabled' } }],
    ['zai', 'glm-5.1', 'low', { thinking: { type: 'enabled' } }],
    ['minimax', 'MiniMax-M3', 'high', { reasoning_split: true, thinking: { type: 'adaptive' } }],
    ['minimax', 'MiniMax-M3', 'none', { reasoning_split: true, thinking: { type: 'disabled' } }],
  ])('to %s for %s with value %s is sent in that model’s form', (id, model, effort, expected) => {
    expect(encode(id, { reasoning_effort: effort }, model)).toEqual({ body: { ...CHAT, model, ...expected }, dropped: undefined });
  });
});

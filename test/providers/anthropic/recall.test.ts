import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import type { Target, UpstreamRequest } from '../../../src/providers/dialect.ts';
import { bodyOf, call, encodeMessages, text, toolUse } from './encoding.ts';

const kept = (blocks: JsonObject[], model = 'claude-opus-5'): string => JSON.stringify({ model, blocks });
const loop = (content: string | null): JsonObject[] => [
  { role: 'user', content: 'a' },
  { role: 'assistant', content, tool_calls: [call('1'), call('2')] },
  { role: 'tool', tool_call_id: '1', content: 'x' },
  { role: 'tool', tool_call_id: '2', content: 'y' },
];
const said = (request: UpstreamRequest): unknown => bodyOf(request).messages[1]?.content;

describe('thinking of an earlier turn', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' };
  const redacted = { type: 'redacted_thinking', data: 'x' };
  const carried = new Map([
    ['1', kept([thinking, text('Let me see.')])],
    ['2', kept([redacted])],
  ]);

  test('is sent back before the calls it led to', () => {
    expect(said(encodeMessages(loop('Let me see.'), { carried }))).toEqual([
      thinking,
      text('Let me see.'),
      toolUse('1'),
      redacted,
      toolUse('2'),
    ]);
  });

  test('is sent back without text that the caller has changed', () => {
    expect(said(encodeMessages(loop('Changed.'), { carried }))).toEqual([thinking, text('Changed.'), toolUse('1'), redacted, toolUse('2')]);
    expect(said(encodeMessages(loop(null), { carried }))).toEqual([thinking, toolUse('1'), redacted, toolUse('2')]);
  });

  test.each(['claude-opus-5-20260724', 'claude-opus-5@20260724', 'claude-opus-5@default', 'claude-opus-5-latest', 'claude-opus-5-0'])(
    'is sent back to the same model under another name: %s',
    (model) => {
      expect(said(encodeMessages(loop('Let me see.'), { carried, model }))).toContainEqual(thinking);
    },
  );

  test.each<[string, Partial<Target>, Partial<ChatRequest>]>([
    ['to another model', { model: 'claude-haiku-5-5' }, {}],
    ['to a model that must not think', {}, { reasoning_effort: 'none' }],
    ['from a foreign store', { carried: new Map([['1', '"?"']]) }, {}],
  ])('is not sent %s', (_, target, chat) => {
    expect(said(encodeMessages(loop('b'), { carried, ...target }, chat))).toEqual([text('b'), toolUse('1'), toolUse('2')]);
  });

  test('lets a model with a budget continue thinking', () => {
    const budget = new Map([['1', kept([thinking], 'claude-sonnet-4-5-20250929')]]);
    const body = bodyOf(encodeMessages(loop(null), { carried: budget, model: 'claude-sonnet-4-5' }, { reasoning_effort: 'low' }));
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 12_800 });
    expect(body.messages[1]?.content).toEqual([thinking, toolUse('1'), toolUse('2')]);
  });

  test('is to be ignored by a model that binds it if the conversation has changed', () => {
    const model = 'claude-fable-5-1';
    const bound = new Map([['1', kept([thinking], model)]]);
    const request = encodeMessages(loop(null), { carried: bound, model });
    expect(bodyOf(request).thinking).toEqual({ type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } });
    expect(request.headers['anthropic-beta']).toBe('thinking-binding-controls-2026-08-01');
    const asked = encodeMessages(loop(null), { carried: bound, model }, { reasoning_effort: 'low' });
    expect(bodyOf(asked).thinking).toMatchObject({ display: 'summarized', block_binding: {} });
    expect(encodeMessages(loop(null), { model }).headers).not.toHaveProperty('anthropic-beta');
  });
});

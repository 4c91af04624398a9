import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { ProviderFault } from '../../../src/providers/dialect.ts';
import { feed, text, thinking, toolUse, USAGE } from './decoding.ts';

const open = (block: JsonObject, index = 0): JsonObject => ({ type: 'content_block_start', index, content_block: block });
const grow = (delta: JsonObject, index = 0): JsonObject => ({ type: 'content_block_delta', index, delta });
const end = (usage: unknown = { output_tokens: 9 }): JsonObject => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });
const step = (input: number, output: number): object => ({ type: 'message', input_tokens: input, output_tokens: output });
const deltas = (chunks: string[]): unknown[] =>
  chunks.map((chunk) => (JSON.parse(chunk) as { choices: { delta: unknown }[] }).choices[0]?.delta);
const seen = (events: unknown[]): unknown[] => {
  const { decoder } = feed(events);
  return [decoder.hasOutput, decoder.isComplete, decoder.isDone, decoder.usage?.outputTokens];
};

describe('a stream', () => {
  const start = { type: 'message_start', message: { id: 'msg_1', model: 'claude-opus-5', usage: { ...USAGE, output_tokens: 1 } } };
  const close = { type: 'content_block_stop', index: 0 };
  const stop = { type: 'message_stop' };

  test('reports its progress', () => {
    expect(seen([start, { type: 'ping' }, open(text(''))])).toEqual([false, false, false, undefined]);
    expect(seen([start, open(text('')), grow({ type: 'text_delta', text: 'a' })])).toEqual([true, false, false, undefined]);
    expect(seen([start, end()])).toEqual([true, true, false, 9]);
    expect(seen([start, end(), stop])).toEqual([true, true, true, 9]);
    expect(seen([start, end(null)])).toEqual([true, true, false, undefined]);
  });

  test('replaces counts reported again, and keeps those that are null', () => {
    const { decoder } = feed([start, end({ input_tokens: 61, cache_read_input_tokens: null, output_tokens: 9 }), stop]);
    expect(decoder.usage).toEqual({ inputTokens: 61, cachedInputTokens: 5, cacheWriteTokens: 3, outputTokens: 9, reasoningTokens: 2 });
    const usage = decoder.wireUsage;
    expect(usage).toMatchObject({ prompt_tokens: 69, completion_tokens: 9 });
    expect(usage === undefined ? {} : JSON.parse(decoder.usageChunk(usage))).toMatchObject({ choices: [], usage: { total_tokens: 78 } });
  });

  test('counts by the steps of its last report, not of its first', () => {
    const begun = { ...start, message: { ...start.message, usage: { ...USAGE, iterations: [step(10, 1)] } } };
    expect(feed([begun, end()]).decoder.usage).toMatchObject({ inputTokens: 10, cachedInputTokens: 5, outputTokens: 9 });
    const { decoder } = feed([begun, end({ output_tokens: 9, iterations: [step(10, 2), step(12, 7)] })]);
    expect(decoder.usage).toMatchObject({ inputTokens: 22, outputTokens: 9 });
  });

  test.each<[string, unknown[], unknown[]]>([
    ['sends the role once, even when it starts twice', [start, start], [{ role: 'assistant', content: '' }]],
    ['sends the role if it never started', [open(text('a'))], [{ role: 'assistant', content: '' }, { content: 'a' }]],
    ['sends the role once if it starts late', [open(text('a')), start], [{ role: 'assistant', content: '' }, { content: 'a' }]],
    [
      'may start with complete blocks',
      [{ ...start, message: { ...start.message, content: [text('a'), 'odd', toolUse('t1', 'x', { a: 1 })] } }, start, open(text('b'))],
      [
        { role: 'assistant', content: '' },
        { content: 'a' },
        { tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: 'x', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
        { content: 'b' },
      ],
    ],
    [
      'may start a block with text',
      [start, open({ ...thinking }), open(text('b'), 1)],
      [{ role: 'assistant', content: '' }, { reasoning_content: 'Hm.' }, { content: 'b' }],
    ],
    [
      'may deliver a tool input at once',
      [start, open(toolUse('t1', 'x', { a: 1 })), close],
      [
        { role: 'assistant', content: '' },
        { tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: 'x', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      ],
    ],
    [
      'may break off in a tool input',
      [start, open(toolUse('t1', 'x', {})), grow({ type: 'input_json_delta', partial_json: '{"a' }), close],
      [
        { role: 'assistant', content: '' },
        { tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: 'x', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] },
      ],
    ],
    [
      'may contain unknown events and blocks',
      [
        start,
        { type: 'news' },
        open({ type: 'hologram' }),
        grow({ type: 'light_delta' }),
        close,
        close,
        grow({ type: 'input_json_delta', partial_json: '{}' }),
        { type: 'content_block_delta', index: 0 },
        { type: 'content_block_start', index: 1 },
        { type: 'message_delta' },
      ],
      [{ role: 'assistant', content: '' }],
    ],
    [
      'may omit the starts of blocks',
      [
        start,
        grow({ type: 'thinking_delta', thinking: 'Hm.' }),
        grow({ type: 'text_delta', text: 'a' }, 1),
        grow({ type: 'text_delta', text: 'b' }, 1),
      ],
      [{ role: 'assistant', content: '' }, { reasoning_content: 'Hm.' }, { content: 'a' }, { content: 'b' }],
    ],
    [
      'may start a tool call without an input',
      [
        start,
        open({ type: 'tool_use', id: 't1', name: 'say' }),
        grow({ type: 'input_json_delta', partial_json: '{"input":"Hello"}' }),
        close,
      ],
      [
        { role: 'assistant', content: '' },
        { tool_calls: [{ index: 0, id: 't1', type: 'custom', custom: { name: 'say', input: '' } }] },
        { tool_calls: [{ index: 0, custom: { input: 'Hello' } }] },
      ],
    ],
    [
      'may cut off the text of a custom tool',
      [start, open({ type: 'tool_use', id: 't1', name: 'say' }), grow({ type: 'input_json_delta', partial_json: '{"input":"Hel' }), close],
      [
        { role: 'assistant', content: '' },
        { tool_calls: [{ index: 0, id: 't1', type: 'custom', custom: { name: 'say', input: '' } }] },
        { tool_calls: [{ index: 0, custom: { input: 'Hel' } }] },
      ],
    ],
    ['gets a missing finish reason', [start, stop], [{ role: 'assistant', content: '' }, {}]],
    ['gets one finish reason', [start, end(), end(), stop], [{ role: 'assistant', content: '' }, {}]],
    ['may start without a message', [{ type: 'message_start' }], [{ role: 'assistant', content: '' }]],
  ])('%s', (_, events, expected) => {
    expect(deltas(feed(events).chunks)).toEqual(expected);
  });

  test('without a finish reason after a call gets tool_calls', () => {
    const { chunks } = feed([start, open(toolUse('t1', 'x', {})), close, stop]);
    expect(JSON.parse(chunks.at(-1) ?? '')).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }], usage: null });
  });

  test.each<[string, unknown, Partial<ProviderFault>]>([
    [
      'an error',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { status: 529, code: 'overloaded', message: 'Overloaded' },
    ],
    ['a bare error', { type: 'error', message: 'Broken' }, { status: undefined, message: 'Broken' }],
    ['a second answer', { type: 'message_start', message: { id: 'msg_2' } }, {}],
    ['a list', [], {}],
  ])('fails with %s', (_, event, fault) => {
    const { decoder } = feed([start]);
    const push = (): unknown => decoder.push({ name: undefined, data: JSON.stringify(event) });
    expect(push).toThrow(ProviderFault);
    expect(push).toThrow(expect.objectContaining(fault));
    expect(() => decoder.push({ name: undefined, data: 'no JSON' })).toThrow(ProviderFault);
  });
});

import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts';
import { decodeUsage } from '../../../src/providers/anthropic/decode-usage.ts';
import { CONTEXT, message, readStream, text, USAGE, WIRE_USAGE } from './decoding.ts';

const step = (type: string, input: number, output: number): JsonObject => ({
  type,
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 1,
});

describe('usage', () => {
  const read = { inputTokens: 10, cachedInputTokens: 5, cacheWriteTokens: 3, outputTokens: 7, reasoningTokens: 2 };
  test.each<[string, unknown, unknown]>([
    ['in full', USAGE, read],
    [
      'without a cache',
      { input_tokens: 10, output_tokens: 7, cache_read_input_tokens: null },
      { ...read, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    ],
    ['with more thinking than output', { ...USAGE, output_tokens_details: { thinking_tokens: 8 } }, { ...read, reasoningTokens: 0 }],
    [
      'in steps, excluding an adviser’s',
      { ...USAGE, iterations: [step('compaction', 100, 20), step('message', 10, 7), step('advisor_message', 9, 9)] },
      { inputTokens: 110, cachedInputTokens: 2, cacheWriteTokens: 0, outputTokens: 27, reasoningTokens: 2 },
    ],
    ['in steps with a fallback', { ...USAGE, iterations: [step('message', 1, 1), step('fallback_message', 1, 1)] }, read],
    ['in no steps', { ...USAGE, iterations: [] }, read],
    ['in broken steps', { ...USAGE, iterations: [step('message', -1, 1)] }, undefined],
    ['negative', { ...USAGE, input_tokens: -1 }, undefined],
    ['fractional', { ...USAGE, output_tokens: 1.5 }, undefined],
    ['implausible', { ...USAGE, cache_read_input_tokens: 1e12 }, undefined],
    ['as text', { ...USAGE, output_tokens: '7' }, undefined],
    ['missing', undefined, undefined],
    ['null', null, undefined],
  ])('%s', (_, value, expected) => {
    expect(decodeUsage(value)).toEqual(expected as never);
  });

  test('that is invalid is not reported', () => {
    expect(anthropic.decodeReply(JSON.stringify(message([], { usage: null })), CONTEXT).body).not.toHaveProperty('usage');
  });

  test('lists searches next to the tokens', () => {
    const usage = { ...USAGE, server_tool_use: { web_search_requests: 2 } };
    expect(readStream(message([text('a')], { usage })).decoded).toMatchObject({
      wireUsage: { ...WIRE_USAGE, server_tool_use: { web_search_requests: 2 } },
    });
  });
});

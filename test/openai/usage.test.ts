import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { completeDetails, dropCosts, readUsage, writeUsage } from '../../src/openai/usage.ts';
import { NO_TOKENS, promptTokens, totalTokens, type TokenUsage } from '../../src/tokens.ts';

const COUNTS = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const TOKENS_MAX = 2 ** 31;

function details(prompt: object, completion: object = {}): object {
  return { ...COUNTS, prompt_tokens_details: prompt, completion_tokens_details: completion };
}

describe('reported usage', () => {
  test.each<[string, object, Partial<TokenUsage>]>([
    ['only counts', COUNTS, { inputTokens: 100, outputTokens: 20 }],
    ['zero, which is a count', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, {}],
    ['no total', { prompt_tokens: 3, completion_tokens: 4 }, { inputTokens: 3, outputTokens: 4 }],
    ['cached tokens', details({ cached_tokens: 64 }), { inputTokens: 36, cachedInputTokens: 64, outputTokens: 20 }],
    ['all tokens cached', details({ cached_tokens: 100 }), { cachedInputTokens: 100, outputTokens: 20 }],
    ['a cache write', details({ cache_write_tokens: 70 }), { inputTokens: 30, cacheWriteTokens: 70, outputTokens: 20 }],
    [
      'a cache read and a cache write',
      details({ cached_tokens: 60, cache_write_tokens: 40 }),
      { cachedInputTokens: 60, cacheWriteTokens: 40, outputTokens: 20 },
    ],
    [
      'cache hits next to the counts, as DeepSeek sends them',
      { ...COUNTS, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      { inputTokens: 36, cachedInputTokens: 64, outputTokens: 20 },
    ],
    [
      'cache hits twice, which count once',
      { ...details({ cached_tokens: 64 }), prompt_cache_hit_tokens: 64 },
      { inputTokens: 36, cachedInputTokens: 64, outputTokens: 20 },
    ],
    ['reasoning', details({}, { reasoning_tokens: 15 }), { inputTokens: 100, outputTokens: 20, reasoningTokens: 15 }],
    [
      'details that are null',
      { ...COUNTS, prompt_tokens_details: null, completion_tokens_details: null },
      { inputTokens: 100, outputTokens: 20 },
    ],
    ['details that are strings', { ...COUNTS, prompt_tokens_details: 'none' }, { inputTokens: 100, outputTokens: 20 }],
    ['unknown fields', { ...COUNTS, cost: 0.1, is_byok: false }, { inputTokens: 100, outputTokens: 20 }],
    ['the largest count', { prompt_tokens: TOKENS_MAX, completion_tokens: 0 }, { inputTokens: TOKENS_MAX }],
  ])('with %s is read', (_, reported, expected) => {
    expect(readUsage(reported)).toEqual({ ...NO_TOKENS, ...expected });
  });

  test.each<[string, object, Partial<TokenUsage>]>([
    ['more cached tokens than prompt', details({ cached_tokens: 101 }), {}],
    ['more cache writes than prompt', details({ cache_write_tokens: 101 }), {}],
    [
      'more cache writes than the reads leave',
      details({ cached_tokens: 60, cache_write_tokens: 41 }),
      { inputTokens: 40, cachedInputTokens: 60 },
    ],
    ['more DeepSeek hits than prompt', { ...COUNTS, prompt_cache_hit_tokens: 101 }, {}],
    ['more reasoning than output', details({}, { reasoning_tokens: 21 }), {}],
    ['cached tokens below zero', details({ cached_tokens: -1 }), {}],
    ['half a cached token', details({ cached_tokens: 0.5 }), {}],
    ['cached tokens as a string', details({ cached_tokens: '64' }), {}],
    ['cached tokens that are null', details({ cached_tokens: null, cache_write_tokens: null }, { reasoning_tokens: null }), {}],
  ])('with %s is read without that part', (_, reported, expected) => {
    expect(readUsage(reported)).toEqual({ ...NO_TOKENS, inputTokens: 100, outputTokens: 20, ...expected });
  });

  test.each<[string, object, Partial<TokenUsage>]>([
    ['reasoning', details({}, { reasoning_tokens: 15 }), { outputTokens: 35, reasoningTokens: 15 }],
    ['more reasoning than answer', details({}, { reasoning_tokens: 300 }), { outputTokens: 320, reasoningTokens: 300 }],
    ['no reasoning', COUNTS, { outputTokens: 20 }],
    ['impossible reasoning', details({}, { reasoning_tokens: -1 }), { outputTokens: 20 }],
  ])('of a host that counts reasoning separately, as xAI does, with %s', (_, reported, expected) => {
    expect(readUsage(reported, { countsReasoningApart: true })).toEqual({ ...NO_TOKENS, inputTokens: 100, ...expected });
  });

  test.each<[string, number, object]>([
    ['separate from the completion', 170, { outputTokens: 70, reasoningTokens: 50 }],
    ['nowhere', 120, { outputTokens: 20 }],
  ])('of an unknown host whose total shows the reasoning %s', (_, total_tokens, expected) => {
    const reported = { ...details({}, { reasoning_tokens: 50 }), total_tokens };
    expect(readUsage(reported)).toEqual({ ...NO_TOKENS, inputTokens: 100, ...expected });
  });

  const bad = [null, undefined, -1, 0.5, 1e300, TOKENS_MAX + 1, Number.NaN, Number.POSITIVE_INFINITY, '12', true, [], {}];
  test.each(bad.map((count) => [count]))('is rejected when a count is %p', (count) => {
    expect(readUsage({ ...COUNTS, prompt_tokens: count })).toBeUndefined();
    expect(readUsage({ ...COUNTS, completion_tokens: count })).toBeUndefined();
  });

  test.each([[undefined], [null], ['none'], [7], [true], [[]], [{}], [[COUNTS]], [{ total_tokens: 120 }]])(
    'is missing when it is %j',
    (value) => {
      expect(readUsage(value)).toBeUndefined();
    },
  );
});

describe('the token buckets', () => {
  const count = fc.oneof(fc.nat({ max: 1000 }), fc.nat({ max: TOKENS_MAX }), fc.constant(null), fc.integer(), fc.double());

  test('are disjoint counts whose sums are the reported ones, whatever the parts say', () => {
    const reported = fc.record({
      prompt_tokens: fc.nat({ max: TOKENS_MAX }),
      completion_tokens: fc.nat({ max: TOKENS_MAX }),
      prompt_cache_hit_tokens: fc.option(count, { nil: undefined }),
      prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }, { requiredKeys: [] }),
      completion_tokens_details: fc.record({ reasoning_tokens: count }, { requiredKeys: [] }),
    });
    fc.assert(
      fc.property(reported, (value) => {
        const usage = readUsage(value);
        if (usage === undefined) throw new Error('not believed');
        for (const bucket of Object.values(usage)) expect(Number.isInteger(bucket) && bucket >= 0).toBe(true);
        expect(promptTokens(usage)).toBe(value.prompt_tokens);
        expect(totalTokens(usage)).toBe(value.prompt_tokens + value.completion_tokens);
        expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.outputTokens);
      }),
      { numRuns: 500 },
    );
  });

  test('survive a round trip, except for details that the plain counts do not hold', () => {
    const usage = { inputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 4, outputTokens: 8, reasoningTokens: 3 };
    expect(writeUsage(usage)).toEqual({ prompt_tokens: 7, completion_tokens: 8, total_tokens: 15 });
    expect(readUsage(writeUsage(usage))).toEqual({ ...NO_TOKENS, inputTokens: 7, outputTokens: 8 });
  });

  test('can be read from any value without an exception', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        readUsage(value);
      }),
    );
  });
});

function completed(reported: Record<string, unknown>): unknown {
  completeDetails(reported, readUsage(reported) ?? NO_TOKENS);
  return reported;
}

describe('the usage details that clients see', () => {
  test('have every count that OpenAI has, and keep the others', () => {
    expect(completed({ ...COUNTS, ...details({ cached_tokens: 7, cache_write_tokens: 1 }, { reasoning_tokens: null }) })).toEqual({
      ...COUNTS,
      prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 1, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    });
  });

  test('are those that were charged where a report contradicts itself', () => {
    const reported = details({ cached_tokens: 101, cache_write_tokens: 102 }, { reasoning_tokens: 21 }) as Record<string, unknown>;
    expect(completed(reported)).toMatchObject({
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
    expect(completed({ ...COUNTS, prompt_cache_hit_tokens: 64, prompt_tokens_details: {} })).toMatchObject({
      prompt_tokens_details: { cached_tokens: 64 },
    });
  });

  test('are absent where none were reported', () => {
    expect(completed({ ...COUNTS, prompt_tokens_details: null })).toEqual({ ...COUNTS, prompt_tokens_details: null });
  });
});

test('the cost at the provider is removed from a report', () => {
  const kept = { prompt_tokens: 1, costume: 2, prompt_tokens_details: { cached_tokens: 0 } };
  const costs = { cost: 0.1, cost_details: { upstream_inference_cost: 0.1 }, is_byok: false, estimated_cost: 0.1, cost_in_usd_ticks: 7 };
  const reported = { ...kept, ...costs };
  dropCosts(reported);
  expect(Object.keys(reported)).toEqual(['prompt_tokens', 'costume', 'prompt_tokens_details']);
});

import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { openai } from '../../src/providers/openai.ts';
import type { ProviderFault } from '../../src/providers/dialect.ts';
import { faultOf } from './fault-of.ts';

const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

const context = (id: string): Parameters<typeof openai.decodeStream>[0] => ({
  modelId: 'ours',
  wantsUsage: false,
  chat: CHAT,
  requestId: 'r',
  createdSeconds: 1,
  host: HOSTS[id],
});
const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

const whole = (choice: object, more: object = {}): string => JSON.stringify({ choices: [{ index: 0, ...choice }], ...more });
const chunk = (delta: object, more: object = {}): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] });

describe('an answer', () => {
  test.each<[string, string, object, object]>([
    [
      'keeps reasoning under another name next to the usual one',
      'groq',
      { content: 'a', reasoning: 'b' },
      { content: 'a', reasoning: 'b', reasoning_content: 'b' },
    ],
    [
      'leaves reasoning under both names alone',
      'openrouter',
      { content: 'a', reasoning: 'b', reasoning_content: 'c' },
      { content: 'a', reasoning: 'b', reasoning_content: 'c' },
    ],
    ['gets null for missing content', 'groq', { tool_calls: [CALL] }, { content: null, tool_calls: [CALL] }],
    [
      'joins content parts into text',
      'mistral',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'b' }, { type: 'odd' }] },
          { type: 'thinking', thinking: 'c' },
          { type: 'text', text: 'a' },
          'odd',
        ],
      },
      { content: 'a', reasoning_content: 'bc' },
    ],
    ['has no reasoning if its content parts have no thinking', 'mistral', { content: [{ type: 'text', text: 'a' }] }, { content: 'a' }],
  ])('%s', (_, id, message, expected) => {
    const { body } = openai.decodeReply(whole({ message, finish_reason: 'stop' }), context(id));
    expect((body['choices'] as JsonObject[])[0]?.['message']).toEqual({ role: 'assistant', refusal: null, ...expected });
  });

  test.each<[string, string, unknown, unknown]>([
    ['in the caller’s terms', 'groq', 'on_demand', 'default'],
    ['in the caller’s terms, for the larger one', 'groq', 'performance', 'scale'],
    ['unchanged if clients know it', 'groq', 'flex', 'flex'],
    ['as null', 'groq', null, null],
    ['not at all if clients would fail on it', 'openrouter', 'on_demand', undefined],
  ])('reports its service tier %s', (_, id, theirs, ours) => {
    const more = { service_tier: theirs };
    const { body } = openai.decodeReply(whole({ message: { content: 'a' }, finish_reason: 'stop' }, more), context(id));
    const data = JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }], ...more });
    const [text = ''] = openai.decodeStream(context(id)).push({ name: undefined, data });
    expect([body['service_tier'], (JSON.parse(text) as JsonObject)['service_tier']]).toEqual([ours, ours]);
  });

  test('counts reasoning once, even when sent under two names', () => {
    expect(openai.decodeReply(whole({ message: { content: 'a', reasoning: 'bcd' } }), context('groq')).outputText.length).toBe(4);
    expect(openai.decodeReply(whole({ message: { content: [{ type: 'text', text: 'ab' }] } }), context('mistral')).outputText.length).toBe(
      2,
    );
  });

  test.each<[string, string, object, object]>([
    ['cached tokens in Mistral’s count', 'mistral', { num_cached_tokens: 4 }, { inputTokens: 6, cachedInputTokens: 4 }],
    [
      'cached tokens in Mistral’s spelling',
      'mistral',
      { prompt_token_details: { cached_tokens: 4 } },
      { inputTokens: 6, cachedInputTokens: 4 },
    ],
    [
      'cached tokens in the usual place',
      'mistral',
      { prompt_tokens_details: { cached_tokens: 3 }, num_cached_tokens: 4 },
      { inputTokens: 7, cachedInputTokens: 3 },
    ],
    [
      'cached tokens next to a null in the usual place',
      'mistral',
      { prompt_tokens_details: { cached_tokens: null }, num_cached_tokens: 4 },
      { inputTokens: 6, cachedInputTokens: 4 },
    ],
    ['cached tokens in Moonshot’s count', 'moonshot', { cached_tokens: 4 }, { inputTokens: 6, cachedInputTokens: 4 }],
    [
      'cached tokens in addition to the prompt',
      'xai',
      { prompt_tokens_details: { cached_tokens: 40 } },
      { inputTokens: 10, cachedInputTokens: 40 },
    ],
    [
      'cached tokens included in the prompt',
      'xai',
      { prompt_tokens_details: { cached_tokens: 4 } },
      { inputTokens: 6, cachedInputTokens: 4 },
    ],
    ['no cached tokens', 'xai', {}, { inputTokens: 10, cachedInputTokens: 0 }],
    [
      'cached tokens in the host’s own place, and null in the usual one',
      'mistral',
      { prompt_tokens_details: { cached_tokens: null }, num_cached_tokens: 4 },
      { inputTokens: 6, cachedInputTokens: 4 },
    ],
    [
      'cache writes in Alibaba’s count',
      'dashscope',
      { prompt_tokens_details: { cached_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 8 }, cache_creation_input_tokens: 8 } },
      { inputTokens: 1, cachedInputTokens: 1, cacheWriteTokens: 8 },
    ],
    [
      'cache writes and reads under Anthropic’s names',
      'unheard-of',
      { cache_creation_input_tokens: 6, cache_read_input_tokens: 1 },
      { inputTokens: 3, cachedInputTokens: 1, cacheWriteTokens: 6 },
    ],
    [
      'cache writes and reads under several names, counted once',
      'unheard-of',
      {
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 6, cache_creation_input_tokens: 6 },
        cache_creation_input_tokens: 6,
        cache_read_input_tokens: 1,
      },
      { inputTokens: 3, cachedInputTokens: 1, cacheWriteTokens: 6 },
    ],
    ['more cache writes than prompt tokens', 'unheard-of', { cache_creation_input_tokens: 11 }, { inputTokens: 10, cacheWriteTokens: 0 }],
    ['a number in place of details', 'mistral', { prompt_token_details: 4 }, { inputTokens: 10, cachedInputTokens: 0 }],
  ])('reads %s', (_, id, details, expected) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...details };
    expect(openai.decodeReply(whole({ message: { content: 'a' } }, { usage }), context(id)).usage).toMatchObject(expected);
  });

  test.each<[string, string, string]>([
    ['mistral', 'model_length', 'length'],
    ['zai', 'sensitive', 'content_filter'],
    ['together', 'eos', 'stop'],
    ['together', 'something_new', 'stop'],
    ['together', 'function_call', 'function_call'],
    ['together', 'constructor', 'stop'],
    ['together', '__proto__', 'stop'],
  ])('of %s that ends with %s reports %s', (id, reason, finish) => {
    const { body } = openai.decodeReply(whole({ message: { content: 'a' }, finish_reason: reason }), context(id));
    expect(body).toMatchObject({ choices: [{ finish_reason: finish }] });
  });

  test.each<[string, unknown, Partial<ProviderFault> | undefined]>([
    ['a rate limit', { status_code: 1002, status_msg: 'Slow down' }, { status: 429, message: 'Slow down', code: '1002' }],
    ['an unknown code', { status_code: 7777 }, { status: 502, message: 'The provider reported an error' }],
    ['success', { status_code: 0, status_msg: '' }, undefined],
    ['nothing', null, undefined],
  ])('of MiniMax with %s in a 200', (_, state, fault) => {
    const text = whole({ message: { content: 'a' } }, { base_resp: state });
    if (fault === undefined) expect(openai.decodeReply(text, context('minimax')).outputText.length).toBe(1);
    else expect(faultOf(() => openai.decodeReply(text, context('minimax')))).toMatchObject(fault);
  });
});

const push = (id: string, ...events: readonly string[]): JsonObject[] => {
  const decoder = openai.decodeStream(context(id));
  return events.flatMap((data) =>
    decoder.push({ name: undefined, data }).map((text) => (JSON.parse(text) as { choices: JsonObject[] }).choices[0] ?? {}),
  );
};
const bare = (id: string | undefined, input: string): object => ({
  ...(id === undefined ? {} : { id }),
  function: { name: 'f', arguments: input },
});

describe('a stream', () => {
  test('of xAI sends reasoning that comes twice in a row once, while other hosts’ passes unchanged', () => {
    const pieces = ['Hm. ', 'Hm. ', 'So ', 'Hm. '].map((text) => chunk({ reasoning_content: text }));
    const events = [...pieces, chunk({ content: 'a' }), chunk({ reasoning_content: 'Hm. ' })];
    const reasoningOf = (id: string): unknown[] => push(id, ...events).map(({ delta }) => (delta as JsonObject)['reasoning_content']);
    expect(reasoningOf('xai')).toEqual(['Hm. ', undefined, 'So ', 'Hm. ', undefined, 'Hm. ']);
    expect(reasoningOf('deepseek')).toEqual(['Hm. ', 'Hm. ', 'So ', 'Hm. ', undefined, 'Hm. ']);
  });

  test('of xAI with several choices keeps the reasoning of each', () => {
    const decoder = openai.decodeStream({ ...context('xai'), chat: { ...CHAT, n: 2 } });
    const say = (index: number): void => {
      const choices = [{ index, delta: { reasoning_content: 'Hm.' }, finish_reason: null }];
      decoder.push({ name: undefined, data: JSON.stringify({ choices }) });
    };
    for (const index of [0, 1, 0]) say(index);
    expect(decoder.outputText).toBe('Hm.Hm.');
  });

  test('has tool calls with the index by which clients join them', () => {
    const choices = push(
      'mistral',
      chunk({ tool_calls: [bare('a', '{'), bare('b', '{}')] }),
      chunk({ tool_calls: [bare(undefined, '}'), 'odd'] }),
      chunk({ tool_calls: [bare('a', '}')] }),
      chunk({ tool_calls: [{ ...bare('c', ''), index: 7 }] }),
    );
    const seen = choices
      .flatMap(({ delta }) => (delta as { tool_calls: JsonObject[] }).tool_calls)
      .filter((call) => typeof call === 'object');
    expect(seen.map(({ id, index, type }) => [id, index, type])).toEqual([
      ['a', 0, 'function'],
      ['b', 1, 'function'],
      [undefined, 1, undefined],
      [undefined, 0, undefined],
      ['c', 2, 'function'],
    ]);
  });

  test('names a call once, whatever the host repeats', () => {
    const piece = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{' } };
    const choices = push(
      'openai',
      chunk({ tool_calls: [piece] }),
      chunk({ tool_calls: [{ ...piece, function: { name: 'f', arguments: '}' } }] }),
    );
    expect(choices[1]).toMatchObject({ delta: { tool_calls: [{ index: 0, function: { arguments: '}' } }] } });
    expect(JSON.stringify(choices[1])).not.toContain('"name"');
    // A different name must not be hidden.
    expect(push('openai', chunk({ tool_calls: [piece] }), chunk({ tool_calls: [{ index: 0, function: { name: 'g' } }] }))[1]).toMatchObject(
      {
        delta: { tool_calls: [{ function: { name: 'g' } }] },
      },
    );
  });

  test('that starts in the middle of a call still has an index', () => {
    const [choice] = push('mistral', chunk({ tool_calls: [{ function: { arguments: '{' } }] }));
    expect(choice).toMatchObject({ delta: { tool_calls: [{ index: 0 }] } });
  });

  test('reads usage from the choice if the host puts it there', () => {
    const decoder = openai.decodeStream(context('moonshot'));
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached_tokens: 4 };
    decoder.push({ name: undefined, data: chunk({}, { finish_reason: 'stop', usage }) });
    expect(decoder.usage).toMatchObject({ inputTokens: 6, cachedInputTokens: 4, outputTokens: 5 });
  });

  test('reads usage from Groq’s field, also with Groq’s row', () => {
    const decoder = openai.decodeStream(context('groq'));
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    decoder.push({
      name: undefined,
      data: JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage } }),
    });
    expect(decoder.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  test('that its host breaks off is a fault', () => {
    for (const id of ['deepseek', 'openrouter'])
      expect(faultOf(() => push(id, chunk({}, { finish_reason: 'insufficient_system_resource' })))).toMatchObject({ status: 503 });
    expect(faultOf(() => push('minimax', JSON.stringify({ base_resp: { status_code: 1008 } })))).toMatchObject({ status: 402 });
  });

  test('does not reopen a choice that has ended', () => {
    const decoder = openai.decodeStream(context('github'));
    const notes = JSON.stringify({ choices: [{ index: 0, content_filter_results: {}, finish_reason: null }] });
    for (const data of [chunk({ content: 'a' }), chunk({}, { finish_reason: 'stop' }), notes]) decoder.push({ name: undefined, data });
    expect(decoder.isComplete).toBe(true);
    expect(decoder.push({ name: undefined, data: '[DONE]' })).toEqual([]);
  });

  test('has no choices that are not objects, on which clients fail', () => {
    for (const choices of [['odd'], [null]]) expect(push('groq', JSON.stringify({ choices }))).toEqual([]);
    const choice = { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null };
    expect(push('groq', JSON.stringify({ choices: [null, choice] }))).toEqual([choice]);
    expect(() => openai.decodeReply(JSON.stringify({ choices: [null] }), context('groq'))).toThrow('without choices');
    const { body } = openai.decodeReply(JSON.stringify({ choices: [null, { message: { content: 'a' } }] }), context('groq'));
    expect(body['choices']).toMatchObject([{ index: 0, message: { content: 'a' } }]);
  });
});

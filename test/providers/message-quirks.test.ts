import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/compatible.ts';
import { openai } from '../../src/providers/openai.ts';

/** The messages as they are sent to a model of a host, and what the caller is told to be lost. */
function encode(id: string, model: string, ...messages: readonly JsonObject[]): { messages: unknown; dropped: unknown } {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS[id] };
  const { body, dropped } = openai.encodeRequest({ model: 'm', messages }, target);
  return { messages: (JSON.parse(body) as JsonObject)['messages'], dropped };
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const CALLING = { role: 'assistant', content: null, tool_calls: [CALL] };
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'ok' };

describe('an earlier tool call', () => {
  test.each<[string, JsonObject, string]>([
    ['without reasoning', {}, ' '],
    ['with empty reasoning', { reasoning_content: '' }, ' '],
    ['with its reasoning', { reasoning_content: 'Hm.' }, 'Hm.'],
    ['with its reasoning by another name', { reasoning: 'Hm.' }, 'Hm.'],
  ])('%s, to models of Moonshot that think, says its reasoning', (_, reasoning, said) => {
    for (const model of ['kimi-k3', 'kimi-k2.6', 'kimi-k2-thinking'])
      expect(encode('moonshot', model, { ...CALLING, ...reasoning }, RESULT)).toEqual({
        messages: [{ ...CALLING, ...reasoning, reasoning_content: said }, RESULT],
        dropped: undefined,
      });
  });

  test('to a model of Moonshot that does not think stays as it is, and so does what calls no tool', () => {
    expect(encode('moonshot', 'moonshot-v1-8k', CALLING, RESULT).messages).toEqual([CALLING, RESULT]);
    const answer = { role: 'assistant', content: 'Hi' };
    expect(encode('moonshot', 'kimi-k2.6', answer, RESULT).messages).toEqual([answer, RESULT]);
  });
});

/** An answer as clients keep it, with what the gate and others add to it. */
const ECHO = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' }, prompt_cache_breakpoint: { mode: 'explicit' } },
  ],
  refusal: null,
  reasoning_content: 'Hm.',
  reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
  thinking_blocks: [],
  images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
  annotations: [],
  tool_calls: [{ ...CALL, id: 'aB3dE6gH9', index: 0, extra_content: { google: { thought_signature: 'a' } } }],
};

describe('what callers send back and a host does not know', () => {
  test.each<[string, JsonObject]>([
    ['mistral', {}],
    ['groq', {}],
    ['cerebras', { reasoning: 'Hm.' }],
  ])('is left out for %s', (id, more) => {
    const content = [{ type: 'text', text: 'Hi' }];
    const call = { ...CALL, id: 'aB3dE6gH9' };
    const { messages } = encode(id, 'theirs', ECHO, { role: 'user', content: 'Go on' });
    expect(messages).toEqual([
      { role: 'assistant', content, tool_calls: [call], ...more },
      { role: 'user', content: 'Go on' },
    ]);
  });

  test('is left out for OpenAI, pictures among it', () => {
    const { messages } = encode('openai', 'gpt-x', { role: 'assistant', content: 'Hi', images: [] });
    expect(messages).toEqual([{ role: 'assistant', content: 'Hi' }]);
  });

  test('is not the thinking of Mistral’s own parts', () => {
    const said = { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] };
    const { messages } = encode('mistral', 'magistral-medium', said, { role: 'user', content: 'Go on' });
    expect(messages).toEqual([said, { role: 'user', content: 'Go on' }]);
  });

  test('is a name at Mistral, but not of a tool, and not one that is null', () => {
    const result = { role: 'tool', tool_call_id: 'aB3dE6gH9', content: 'ok' };
    const user = { role: 'user', content: 'Hi' };
    expect(encode('mistral', 'theirs', { ...user, name: 'ann' }, { ...result, name: 'f' })).toEqual({
      messages: [user, { ...result, name: 'f' }],
      dropped: ['messages[].name'],
    });
    expect(encode('mistral', 'theirs', user, { ...result, name: 'f' }).dropped).toBeUndefined();
    expect(encode('mistral', 'theirs', user, { ...result, name: null }).messages).toEqual([user, result]);
  });
});

import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { encode } from './relayed.ts';

/** Returns the messages sent to a host's model, and the fields reported as lost. */
function encodeMessages(id: string, model: string, ...messages: readonly JsonObject[]): { messages: unknown; dropped: unknown } {
  const { body, dropped } = encode(id, { messages }, model);
  return { messages: body['messages'], dropped };
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const CALLING = { role: 'assistant', content: null, tool_calls: [CALL] };
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'ok' };

describe('an earlier tool call', () => {
  test.each<[string, JsonObject, string]>([
    ['without reasoning', {}, ' '],
    ['with empty reasoning', { reasoning_content: '' }, ' '],
    ['with its reasoning', { reasoning_content: 'Hm.' }, 'Hm.'],
    ['with its reasoning under another name', { reasoning: 'Hm.' }, 'Hm.'],
  ])('%s, carries reasoning to Moonshot’s thinking models', (_, reasoning, said) => {
    for (const model of ['kimi-k3', 'kimi-k2.6', 'kimi-k2-thinking'])
      expect(encodeMessages('moonshot', model, { ...CALLING, ...reasoning }, RESULT)).toEqual({
        messages: [{ ...CALLING, ...reasoning, reasoning_content: said }, RESULT],
        dropped: undefined,
      });
  });

  test('is unchanged for a Moonshot model that does not think, and so is a message without tool calls', () => {
    expect(encodeMessages('moonshot', 'moonshot-v1-8k', CALLING, RESULT).messages).toEqual([CALLING, RESULT]);
    const answer = { role: 'assistant', content: 'Hi' };
    expect(encodeMessages('moonshot', 'kimi-k2.6', answer, RESULT).messages).toEqual([answer, RESULT]);
  });
});

/** An answer as clients keep it, with the fields that the gateway and others add. */
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
  // The official clients add what they parsed, LiteLLM what it does not know.
  parsed: { city: 'Bern' },
  provider_specific_fields: { refusal: null },
  tool_calls: [
    {
      ...CALL,
      function: { ...CALL.function, parsed_arguments: {} },
      id: 'aB3dE6gH9',
      index: 0,
      extra_content: { google: { thought_signature: 'a' } },
      provider_specific_fields: { thought_signature: 'a' },
    },
  ],
};

describe('fields that callers send back and a host does not know', () => {
  test.each<[string, JsonObject]>([
    ['mistral', {}],
    ['groq', {}],
    ['cerebras', { reasoning: 'Hm.' }],
  ])('are dropped for %s', (id, more) => {
    const content = [{ type: 'text', text: 'Hi' }];
    const call = { ...CALL, id: 'aB3dE6gH9' };
    const { messages } = encodeMessages(id, 'theirs', ECHO, { role: 'user', content: 'Go on' });
    expect(messages).toEqual([
      { role: 'assistant', content, tool_calls: [call], ...more },
      { role: 'user', content: 'Go on' },
    ]);
  });

  test('are dropped for OpenAI', () => {
    const { images, parsed, provider_specific_fields, tool_calls: calls } = ECHO;
    const given = { ...CALLING, images, parsed, provider_specific_fields, tool_calls: calls };
    expect(encodeMessages('openai', 'gpt-x', given).messages).toEqual([{ ...CALLING, tool_calls: [{ ...CALL, id: 'aB3dE6gH9' }] }]);
  });

  test('do not include the thinking parts at Mistral', () => {
    const said = { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] };
    const { messages } = encodeMessages('mistral', 'magistral-medium', said, { role: 'user', content: 'Go on' });
    expect(messages).toEqual([said, { role: 'user', content: 'Go on' }]);
  });

  test('include a name at Mistral, but not that of a tool, nor a null one', () => {
    const result = { role: 'tool', tool_call_id: 'aB3dE6gH9', content: 'ok' };
    const user = { role: 'user', content: 'Hi' };
    expect(encodeMessages('mistral', 'theirs', { ...user, name: 'ann' }, { ...result, name: 'f' })).toEqual({
      messages: [user, { ...result, name: 'f' }],
      dropped: ['messages[].name'],
    });
    expect(encodeMessages('mistral', 'theirs', user, { ...result, name: 'f' }).dropped).toBeUndefined();
    expect(encodeMessages('mistral', 'theirs', user, { ...result, name: null }).messages).toEqual([user, result]);
  });
});

describe('a message in a form that only OpenAI knows', () => {
  const WHY = { role: 'user', content: 'Why?' };

  test.each(['mistral', 'deepseek', 'ollama', 'vllm'])('has its refusal as the content at %s', (id) => {
    const given = [{ role: 'assistant', content: null, refusal: 'No.' }, { role: 'assistant', content: 'Yes.', refusal: 'No.' }, WHY];
    const sent = encodeMessages(id, 'theirs', ...given).messages as JsonObject[];
    expect(sent.map(({ content }) => content)).toEqual(['No.', 'Yes.', 'Why?']);
    for (const message of sent) expect(message).not.toHaveProperty('refusal');
    expect(encodeMessages('openai', 'gpt-x', ...given).messages).toEqual(given);
  });

  test('has arguments in every tool call at a host that parses them', () => {
    const bare = { ...CALL, function: { name: 'f', arguments: '' } };
    const given = [{ ...CALLING, tool_calls: [bare, CALL] }, WHY];
    expect(encodeMessages('ollama', 'theirs', ...given).messages).toEqual([{ ...CALLING, tool_calls: [CALL, CALL] }, WHY]);
    expect(encodeMessages('openai', 'gpt-x', ...given).messages).toEqual(given);
  });
});

describe('instructions', () => {
  const [rules, hi, hello, more] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'developer', content: 'Use French.' },
  ];
  const parts = { role: 'developer', content: [{ type: 'text', text: 'Use French.' }] };

  test.each([
    ['vllm', 'Qwen/Qwen3.6-27B'],
    ['ollama', 'qwen3.8:27b'],
    ['fireworks', 'accounts/fireworks/models/qwen3p8-max'],
    ['dashscope', 'qwen3.8-max'],
    ['minimax', 'MiniMax-M3'],
  ])('to %s are one message at the start for %s, which refuses any other', (id, model) => {
    const joined = { role: 'system', content: 'Be brief.\n\nUse French.' };
    expect(encodeMessages(id, model, rules, more, hi)).toEqual({ messages: [joined, hi], dropped: undefined });
    expect(encodeMessages(id, model, rules, hi, hello, more, hi).messages).toEqual([joined, hi, hello, hi]);
    expect(encodeMessages(id, model, hi, more, hi).messages).toEqual([{ role: 'system', content: 'Use French.' }, hi, hi]);
    expect(encodeMessages(id, model, rules, hi, parts).messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }, ...parts.content] },
      hi,
    ]);
    expect(encodeMessages(id, model, rules, hi).messages).toEqual([rules, hi]);
  });

  test('stay where they are for other models', () => {
    const system = { role: 'system', content: 'Use French.' };
    expect(encodeMessages('vllm', 'llama-3.3-70b', rules, hi, more).messages).toEqual([rules, hi, system]);
  });
});

test('a question right after a tool result follows an answer at Mistral, which refuses it otherwise', () => {
  const [call, result] = [
    { ...CALLING, tool_calls: [{ ...CALL, id: 'aB3dE6gH9' }] },
    { ...RESULT, tool_call_id: 'aB3dE6gH9', name: 'f' },
  ];
  const asked = { role: 'user', content: 'And now?' };
  const { messages, dropped } = encodeMessages('mistral', 'mistral-large-2512', call, result, asked, asked);
  expect(messages).toEqual([call, result, { role: 'assistant', content: 'OK.' }, asked, asked]);
  expect(dropped).toBeUndefined();
  expect(encodeMessages('mistral', 'mistral-large-2512', call, result).messages).toEqual([call, result]);
  expect(encodeMessages('groq', 'theirs', call, result, asked).messages).toHaveLength(3);
});

test('messages of one role in a row are one message at Perplexity, which wants turns', () => {
  const [ask, more, said] = [
    { role: 'user', content: 'Hi' },
    { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
    { role: 'assistant', content: 'Hello' },
  ];
  const rules = { role: 'system', content: 'Be brief.' };
  expect(encodeMessages('perplexity', 'sonar-pro', rules, ask, ask, said, said, ask, more).messages).toEqual([
    rules,
    { role: 'user', content: 'Hi\n\nHi' },
    { role: 'assistant', content: 'Hello\n\nHello' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }, ...more.content] },
  ]);
  expect(encodeMessages('perplexity', 'sonar-pro', ask, rules, ask).messages).toEqual([rules, { role: 'user', content: 'Hi\n\nHi' }]);
  expect(encodeMessages('perplexity', 'sonar-pro', rules, ask, said, ask)).toEqual({
    messages: [rules, ask, said, ask],
    dropped: undefined,
  });
});

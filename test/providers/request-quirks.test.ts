import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';
import { CHAT, encode } from './relayed.ts';

const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

describe('a request to a host', () => {
  test.each<[string, string, Partial<ChatRequest>, Partial<JsonObject>]>([
    ['the old limit', 'openai', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['the new limit', 'ollama', { max_completion_tokens: 5 }, { max_tokens: 5 }],
    ['a seed', 'mistral', { seed: 5 }, { random_seed: 5 }],
    ['a required tool', 'mistral', { tool_choice: 'required' }, { tool_choice: 'any' }],
    [
      'a required named tool',
      'mistral',
      { tool_choice: { type: 'function', function: { name: 'f' } } },
      { tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    ['a service tier', 'groq', { service_tier: 'default' }, { service_tier: 'on_demand' }],
    ['a service tier that needs no translation', 'groq', { service_tier: 'flex' }, { service_tier: 'flex' }],
    ['an effort', 'deepseek', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'max' }],
    ['effort none', 'deepseek', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['an effort that needs no translation', 'deepseek', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
    ['the least effort', 'ollama', { reasoning_effort: 'minimal' }, { reasoning_effort: 'low' }],
    ['an effort above high', 'ollama', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'high' }],
    ['the default effort', 'deepseek', { reasoning_effort: 'default' }, {}],
    ['the default effort, which the host knows', 'groq', { reasoning_effort: 'default' }, { reasoning_effort: 'default' }],
    ['a user under both names', 'deepseek', { user: 'a', safety_identifier: 'b' }, { user_id: 'a' }],
    ['a high temperature', 'zai', { temperature: 2 }, { temperature: 1 }],
    ['a low temperature', 'zai', { temperature: 0 }, { temperature: 0 }],
    ['an added field', 'minimax', {}, { reasoning_split: true }],
    ['one choice', 'groq', { n: 1 }, {}],
    ['unknown fields that are null', 'vllm', { top_k: null, guided_json: { const: null } }, { guided_json: { const: null } }],
    [
      'nulls in its options',
      'groq',
      { stream: true, stream_options: { include_obfuscation: null } },
      { stream: true, stream_options: { include_usage: true } },
    ],
    ['extensions of the host', 'openrouter', { transforms: ['middle-out'] }, { transforms: ['middle-out'] }],
  ])('with %s, to %s', (_, id, chat, expected) => {
    expect(encode(id, chat)).toEqual({ body: { ...CHAT, model: 'theirs', ...expected }, dropped: undefined });
  });

  test.each<[string, string, readonly string[]]>([
    ['xai', 'grok-4.5', ['stop', 'presence_penalty']],
    ['xai', 'grok-4.20-0309-reasoning', ['reasoning_effort', 'stop', 'presence_penalty']],
    ['xai', 'grok-4.20-0309-non-reasoning', ['reasoning_effort']],
    ['xai', 'grok-4-fast-non-reasoning', ['reasoning_effort']],
    ['xai', 'grok-4-0709', ['reasoning_effort', 'stop', 'presence_penalty']],
    ['xai', 'grok-code-fast-1', ['reasoning_effort', 'stop', 'presence_penalty']],
    ['xai', 'grok-3-mini', ['stop', 'presence_penalty']],
    ['xai', 'grok-3', ['reasoning_effort']],
    ['mistral', 'mistral-large-2512', ['reasoning_effort']],
    ['mistral', 'ministral-8b-2512', ['reasoning_effort']],
    ['mistral', 'codestral-2508', ['reasoning_effort']],
    ['mistral', 'mistral-medium-3-5', []],
    ['groq', 'llama-3.3-70b-versatile', ['reasoning_effort']],
    ['ollama', 'llama3.1:8b', ['reasoning_effort']],
    ['moonshot', 'kimi-k3', ['temperature', 'presence_penalty']],
    ['moonshot', 'kimi-k2.6', ['temperature', 'presence_penalty']],
    ['moonshot', 'kimi-k2.7-code', ['reasoning_effort', 'temperature', 'presence_penalty']],
    ['moonshot', 'moonshot-v1-8k', ['reasoning_effort']],
  ])('to %s drops what %s refuses', (id, model, lost) => {
    const { body, dropped } = encode(id, { stop: 'a', presence_penalty: 1, reasoning_effort: 'high', temperature: 0.5 }, model);
    expect(dropped ?? []).toEqual([...lost]);
    for (const name of lost) expect(body).not.toHaveProperty(name);
  });

  test('omits the usage option of a stream if the host refuses it', () => {
    expect(encode('mistral', { stream: true, stream_options: { include_usage: true } }).body).not.toHaveProperty('stream_options');
  });

  test('replaces an unsupported schema by JSON mode and a description in the prompt', () => {
    const schema = { type: 'object', properties: { age: { type: 'integer' } } };
    const { body, dropped } = encode('deepseek', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } });
    expect(body['response_format']).toEqual({ type: 'json_object' });
    expect((body['messages'] as JsonObject[])[0]).toEqual({ role: 'system', content: expect.stringContaining(JSON.stringify(schema)) });
    expect(dropped).toEqual(['response_format.json_schema']);
    expect(encode('deepseek', { response_format: { type: 'json_object' } }).dropped).toBeUndefined();
  });

  test('asks for JSON in the prompt if the host has schemas but no JSON mode', () => {
    const { body, dropped } = encode('lmstudio', { response_format: { type: 'json_object' } });
    expect(body).not.toHaveProperty('response_format');
    expect((body['messages'] as JsonObject[])[0]).toEqual({ role: 'system', content: expect.stringContaining('JSON') });
    expect(dropped).toEqual(['response_format']);
    const format = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };
    expect(encode('lmstudio', { response_format: format })).toMatchObject({ body: { response_format: format }, dropped: undefined });
    const system = { role: 'system', content: 'Be brief.' };
    const both = encode('lmstudio', { messages: [system, ...CHAT.messages], response_format: { type: 'json_object' } }, 'qwen3.6-27b');
    expect((both.body['messages'] as JsonObject[]).map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('asks for JSON in the prompt if the host refuses it together with tools', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const format = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };
    const { body, dropped } = encode('groq', { tools, response_format: format });
    expect(body).not.toHaveProperty('response_format');
    expect((body['messages'] as JsonObject[])[0]).toEqual({ role: 'system', content: expect.stringContaining('{"type":"object"}') });
    expect(dropped).toEqual(['response_format']);
    expect(encode('groq', { tools, response_format: { type: 'text' } }).dropped).toBeUndefined();
    expect(encode('groq', { response_format: format })).toMatchObject({ body: { response_format: format }, dropped: undefined });
  });

  test.each<[string, string, JsonObject, JsonObject]>([
    ['developer role', 'groq', { role: 'developer', content: 'a' }, { role: 'system', content: 'a' }],
    ['developer role, which OpenAI knows', 'openai', { role: 'developer', content: 'a' }, { role: 'developer', content: 'a' }],
    ['a name', 'groq', { role: 'user', content: 'a', name: 'ann' }, { role: 'user', content: 'a' }],
    [
      'nulls',
      'vllm',
      { role: 'assistant', content: null, refusal: null, tool_calls: [CALL] },
      { role: 'assistant', content: null, tool_calls: [CALL] },
    ],
    [
      'nulls in its parts',
      'vllm',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a', image_url: null },
          { type: 'image_url', image_url: { url: 'https://a/b.png', detail: null } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'https://a/b.png' } },
        ],
      },
    ],
    [
      'nulls in its calls',
      'groq',
      { role: 'assistant', content: null, tool_calls: [{ ...CALL, custom: null }] },
      { role: 'assistant', content: null, tool_calls: [CALL] },
    ],
    ...['openai', 'mistral', 'vllm'].map((id): [string, string, JsonObject, JsonObject] => [
      'a bare URL',
      id,
      { role: 'user', content: [{ type: 'image_url', image_url: 'https://a/b.png' }] },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] },
    ]),
    ['a refusal next to text', 'groq', { role: 'assistant', content: 'a', refusal: 'b' }, { role: 'assistant', content: 'a' }],
    ['only a refusal', 'groq', { role: 'assistant', content: null, refusal: 'No.' }, { role: 'assistant', content: 'No.' }],
    ['no reasoning', 'deepseek', { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'a', reasoning_content: '' }],
    [
      'reasoning under another name',
      'deepseek',
      { role: 'assistant', content: 'a', reasoning: 'b' },
      { role: 'assistant', content: 'a', reasoning: 'b', reasoning_content: 'b' },
    ],
    [
      'reasoning under a refused name',
      'cerebras',
      { role: 'assistant', content: 'a', reasoning_content: 'b' },
      { role: 'assistant', content: 'a', reasoning: 'b' },
    ],
    [
      'reasoning under both names, one of them refused',
      'cerebras',
      { role: 'assistant', content: 'a', reasoning_content: 'b', reasoning: 'c' },
      { role: 'assistant', content: 'a', reasoning: 'c' },
    ],
    [
      'fields OpenAI refuses',
      'openai',
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'a' },
          { type: 'text', text: 'a', cache_control: {} },
        ],
        reasoning_content: 'a',
        reasoning: 'a',
        reasoning_details: [],
        thinking_blocks: [],
        extra_content: {},
        tool_calls: [{ ...CALL, index: 0, extra_content: {} }],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }], tool_calls: [CALL] },
    ],
    ['empty lists', 'openai', { role: 'assistant', content: [], tool_calls: [] }, { role: 'assistant', content: '' }],
    ['null for tool calls', 'openai', { role: 'assistant', content: 'a', tool_calls: null }, { role: 'assistant', content: 'a' }],
    ['empty lists', 'vllm', { role: 'assistant', content: [], tool_calls: [] }, { role: 'assistant', content: '' }],
    ['an empty answer', 'openai', { role: 'assistant', content: null, refusal: null }, { role: 'assistant', content: '', refusal: null }],
    ['a final assistant message', 'mistral', { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'a', prefix: true }],
    [
      'a final assistant message, marked differently',
      'moonshot',
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'a', partial: true },
    ],
    [
      'a file',
      'mistral',
      {
        role: 'user',
        content: [
          { type: 'file', file: { file_data: 'data:a' } },
          { type: 'file', file: { file_id: 'f' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'document_url', document_url: 'data:a' },
          { type: 'file', file: { file_id: 'f' } },
        ],
      },
    ],
  ])('with a message containing %s, to %s', (_, id, message, expected) => {
    expect(encode(id, { messages: [message] }).body['messages']).toEqual([expected]);
  });

  test('reports lost message fields, except those that clients merely send back', () => {
    const messages = [
      { role: 'user', name: 'ann', content: 'Hi' },
      { role: 'assistant', content: 'Ho', audio: { id: 'audio_1' }, reasoning_content: 'Hm.', annotations: [] },
    ];
    expect(encode('groq', { messages }).dropped).toEqual(['messages[].name', 'messages[].audio']);
    expect(encode('mistral', { messages }).dropped).toEqual(['messages[].name', 'messages[].audio']);
    expect(encode('openai', { messages }).dropped).toBeUndefined();
  });

  test('to OpenAI has tool-call ids that are short enough and still match', () => {
    const [longest, tooLong] = ['a'.repeat(40), 'a'.repeat(41)];
    const messages = [
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { ...CALL, id: longest },
          { ...CALL, id: tooLong },
        ],
      },
      { role: 'tool', tool_call_id: longest, content: 'a' },
      { role: 'tool', tool_call_id: tooLong, content: 'b' },
    ];
    const [first, second, third] = encode('openai', { messages }).body['messages'] as [
      { tool_calls: JsonObject[] },
      JsonObject,
      JsonObject,
    ];
    expect([first.tool_calls[0]?.['id'], second['tool_call_id']]).toEqual([longest, longest]);
    expect(third['tool_call_id']).toMatch(/^call_[0-9a-f]{24}$/u);
    expect(first.tool_calls[1]).toEqual({ ...CALL, id: third['tool_call_id'] });
  });

  test('to Mistral has short tool-call ids that still match, and results with their names', () => {
    const messages = [
      { role: 'assistant', content: '', tool_calls: [CALL, { ...CALL, id: 'aB3dE6gH9' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a' },
      { role: 'tool', tool_call_id: 'aB3dE6gH9', content: 'b' },
      { role: 'tool', tool_call_id: 'unknown', content: 'c', name: 'own' },
    ];
    const [first, second, third, fourth] = encode('mistral', { messages }).body['messages'] as [
      { tool_calls: { id: string }[] },
      JsonObject,
      JsonObject,
      JsonObject,
    ];
    expect(first.tool_calls[0]?.id).toMatch(/^[A-Za-z0-9]{9}$/u);
    expect(second).toMatchObject({ tool_call_id: first.tool_calls[0]?.id, name: 'f' });
    expect(third).toMatchObject({ tool_call_id: 'aB3dE6gH9', name: 'f' });
    expect(fourth).toMatchObject({ name: 'own' });
  });

  test('to OpenAI’s own address is cleaned even under another provider id', () => {
    const target = { baseUrl: 'https://api.openai.com/v1', apiKey: undefined, model: 'gpt-x', outputTokensMax: 9 };
    const messages = [{ role: 'assistant', content: 'a', reasoning_content: 'b' }];
    const { body } = openai.encodeRequest({ model: 'm', messages }, target);
    expect(JSON.parse(body)).toEqual({ model: 'gpt-x', messages: [{ role: 'assistant', content: 'a' }], max_completion_tokens: 9 });
  });
});

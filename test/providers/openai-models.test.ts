import { expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { openai } from '../../src/providers/openai.ts';
import { faultOf } from './fault-of.ts';

const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

test.each<[model: string, asked: JsonObject, sent: JsonObject, dropped?: readonly string[]]>([
  ['gpt-4o', { reasoning_effort: 'low', temperature: 0.2 }, { temperature: 0.2 }, ['reasoning_effort']],
  ['gpt-4.1-mini', { verbosity: 'low' }, {}, ['verbosity']],
  ['o3', { verbosity: 'medium' }, {}],
  ['gpt-5.4', { verbosity: 'low' }, { verbosity: 'low' }],
  [
    'o3',
    { temperature: 0, stop: 'a', parallel_tool_calls: false, reasoning_effort: 'max' },
    { reasoning_effort: 'high' },
    ['temperature', 'stop', 'parallel_tool_calls'],
  ],
  ['o4-mini', { parallel_tool_calls: false, top_p: 1, presence_penalty: 0 }, { parallel_tool_calls: false }],
  [
    'gpt-5-mini',
    { temperature: 0.2, logprobs: true, reasoning_effort: 'none' },
    { reasoning_effort: 'minimal' },
    ['temperature', 'logprobs'],
  ],
  ['gpt-5.1', { temperature: 0.2, frequency_penalty: 1 }, { temperature: 0.2 }, ['frequency_penalty']],
  ['gpt-5.4', { temperature: 0.2, reasoning_effort: 'low' }, { reasoning_effort: 'low' }, ['temperature']],
  ['gpt-5.2', { tools: [], reasoning_effort: 'max' }, { tools: [], reasoning_effort: 'xhigh' }],
  ['gpt-5.4', { tools: [], reasoning_effort: 'low', temperature: 0.2 }, { tools: [], temperature: 0.2 }, ['reasoning_effort']],
  ['gpt-5.4-mini', { tools: [], reasoning_effort: 'none' }, { tools: [] }],
  ['gpt-5.5', { tools: [], reasoning_effort: 'high', temperature: 0.2 }, { tools: [] }, ['reasoning_effort', 'temperature']],
  ['gpt-5.5', { tools: [], reasoning_effort: 'none' }, { tools: [], reasoning_effort: 'none' }],
  ['gpt-5.5', { tools: [] }, { tools: [] }],
  ['gpt-5.3-chat-latest', { temperature: 0.2, reasoning_effort: 'high' }, {}, ['temperature', 'reasoning_effort']],
  ['gpt-5.6-sol', { tools: [], temperature: 0.2 }, { tools: [], temperature: 0.2, reasoning_effort: 'none' }],
  ['gpt-5.6-sol', { functions: [], reasoning_effort: 'high' }, { functions: [], reasoning_effort: 'none' }, ['reasoning_effort']],
  ['gpt-5.6-sol', { reasoning_effort: 'default' }, {}],
  ['gpt-5.4', { reasoning_effort: 'default', temperature: 0.5 }, { temperature: 0.5 }],
  ['gpt-5.5', { temperature: 0.5, top_p: 1 }, {}, ['temperature']],
  ['gpt-5.6-sol', { reasoning_effort: 'default', temperature: 0.5 }, {}, ['temperature']],
  ['gpt-5.6-sol', { reasoning_effort: 'none', temperature: 0.5 }, { reasoning_effort: 'none', temperature: 0.5 }],
  ['gpt-6-astra', { temperature: 0.2, reasoning_effort: 'none' }, { reasoning_effort: 'low' }, ['temperature']],
  ['gpt-6.1-sol', { prompt_cache_retention: '24h', prompt_cache_key: 'a' }, { prompt_cache_key: 'a' }, ['prompt_cache_retention']],
  ['gpt-6-luna', { prompt_cache_retention: '24h' }, {}, ['prompt_cache_retention']],
  ['gpt-5.5', { prompt_cache_retention: '24h' }, { prompt_cache_retention: '24h' }],
  ['gpt-6-luna', { temperature: 0.2, reasoning_effort: 'none' }, { temperature: 0.2, reasoning_effort: 'none' }],
  ['gpt-6-sol', { tools: [] }, { tools: [], reasoning_effort: 'none' }],
  ['gpt-6-sol', { reasoning_effort: 'max' }, { reasoning_effort: 'xhigh' }],
  ['gpt-6-astra', { reasoning_effort: 'max' }, { reasoning_effort: 'xhigh' }],
  ['gpt-x', { temperature: 0.2, reasoning_effort: 'max' }, { temperature: 0.2, reasoning_effort: 'max' }],
])('a request to OpenAI’s %s with %j has what that model accepts', (...[model, asked, sent, dropped]) => {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS['openai'] };
  const request = openai.encodeRequest({ ...CHAT, ...asked }, target);
  expect(JSON.parse(request.body)).toEqual({ ...CHAT, model, ...sent });
  expect(request.dropped).toEqual(dropped);
});

test.each<[model: string, asked: JsonObject, sent: JsonObject, dropped?: readonly string[]]>([
  ['openai/gpt-5-mini', { max_tokens: 5, temperature: 0.2 }, { max_completion_tokens: 5 }, ['temperature']],
  ['openai/o4-mini', { max_completion_tokens: 5, reasoning_effort: 'max' }, { max_completion_tokens: 5, reasoning_effort: 'high' }],
  ['openai/gpt-4.1', { max_tokens: 5, reasoning_effort: 'low' }, { max_completion_tokens: 5 }, ['reasoning_effort']],
  ['deepseek/deepseek-v3-0324', { max_completion_tokens: 5, temperature: 0.2 }, { max_tokens: 5, temperature: 0.2 }],
  ['meta/llama-4-scout', { max_tokens: 5, verbosity: 'low', top_k: null }, { max_tokens: 5 }, ['verbosity']],
])('GitHub’s %s with %j is sent %j', (...[model, asked, sent, lost]) => {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS['github'] };
  const messages = [{ role: 'developer', content: 'Hi' }];
  const { body, dropped } = openai.encodeRequest({ model: 'm', messages, ...asked }, target);
  const role = model.startsWith('openai/') ? 'developer' : 'system';
  expect({ body: JSON.parse(body) as JsonObject, dropped }).toEqual({
    body: { model, messages: [{ role, content: 'Hi' }], ...sent },
    dropped: lost,
  });
});

test.each([
  ['openai', 'gpt-6-astra', 'tools'],
  ['openai', 'gpt-6.1-sol', 'functions'],
  ['github', 'openai/gpt-6-astra', 'tools'],
])('%s refuses to send %s a request with %s, which would fail', (id, model, field) => {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS[id] };
  const fault = faultOf(() => openai.encodeRequest({ ...CHAT, [field]: [{ type: 'function', function: { name: 'f' } }] }, target));
  expect(fault).toMatchObject({ status: 400, param: field, message: expect.stringContaining('cannot turn off') as unknown });
});

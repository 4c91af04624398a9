import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { anthropic, anthropicVertex } from '../../../src/providers/anthropic/anthropic.ts';
import type { Target } from '../../../src/providers/dialect.ts';
import { SIMULATED_MODELS } from '../../simulator/anthropic-rules.ts';
import { CLAUDE_TEXT } from '../../simulator/anthropic-wire.ts';
import { examine, startAnthropicSimulator, type AnthropicSimulator, type ClaudeBehaviour } from '../../simulator/anthropic.ts';
import { failureOf } from '../../simulator/failure.ts';
import { drive } from '../drive.ts';

const HI = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const WEATHER = {
  type: 'function',
  function: { name: 'the.weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const NOTHING = { type: 'function', function: { name: 'nothing' } };
const MODELS = Object.keys(SIMULATED_MODELS);

let simulator: AnthropicSimulator;
beforeAll(() => {
  simulator = startAnthropicSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

function targetFor(model: string, changes: Partial<Target> = {}): Target {
  return { baseUrl: simulator.baseUrl, apiKey: simulator.apiKey, model, outputTokensMax: undefined, ...changes };
}

const json = (schema: JsonObject): JsonObject => ({ type: 'json_schema', json_schema: { name: 'it', schema } });
const CLOSED = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const OPEN = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: { type: 'string' } };
const calls = (...names: string[]): JsonObject => ({
  finish: 'tool_calls',
  message: { tool_calls: names.map((name) => ({ type: 'function', function: { name } })) },
});

const ROWS: [string, ClaudeBehaviour, Partial<ChatRequest>, JsonObject][] = [
  ['text', { type: 'answer' }, {}, { finish: 'stop', message: { content: CLAUDE_TEXT, refusal: null } }],
  ['the output limit', { type: 'answer' }, { max_tokens: 2 }, { finish: 'length', message: { content: 'Hello! This' } }],
  ['a stop sequence', { type: 'answer' }, { stop: ['Claude'] }, { finish: 'stop', message: { content: 'Hello! This is ' } }],
  [
    'a refusal',
    { type: 'answer', stopReason: 'refusal', stopDetails: { explanation: 'No.' } },
    {},
    { finish: 'content_filter', message: { content: null, refusal: 'No.' } },
  ],
  [
    'a tool call',
    { type: 'answer' },
    { tools: [WEATHER] },
    {
      finish: 'tool_calls',
      message: { content: null, tool_calls: [{ type: 'function', function: { name: 'the.weather', arguments: '{"city":"Zürich ☂"}' } }] },
    },
  ],
  ['two tool calls, one without arguments', { type: 'answer' }, { tools: [NOTHING, WEATHER] }, calls('nothing', 'the.weather')],
  ['one of two tool calls', { type: 'answer' }, { tools: [NOTHING, WEATHER], parallel_tool_calls: false }, calls('nothing')],
  [
    'a tool that must not be called',
    { type: 'answer' },
    { tools: [WEATHER], tool_choice: 'none' },
    { finish: 'stop', message: { content: CLAUDE_TEXT } },
  ],
  ['a schema', { type: 'answer' }, { response_format: json(CLOSED) }, { finish: 'stop', message: { content: '{"a":7}' } }],
  [
    'a schema the grammar does not support',
    { type: 'answer' },
    { response_format: json(OPEN) },
    { finish: 'stop', message: { content: '{"a":7}' } },
  ],
  [
    'a cache',
    { type: 'answer', cache: { read: 100, written: 20 } },
    {},
    { decoded: { usage: { cachedInputTokens: 100, cacheWriteTokens: 20 } } },
  ],
];

describe('the adapter and the strict simulator', () => {
  test.each(ROWS.flatMap(([name, ...row]) => [[name, false, ...row] as const, [`${name}, streamed`, true, ...row] as const]))(
    'agree about %s',
    async (_, stream, behaviour, ...[chat, expected]) => {
      for (const [provider, model, baseUrl] of [
        [anthropic, 'claude-opus-5', simulator.baseUrl],
        [anthropic, 'claude-sonnet-4-5', simulator.baseUrl],
        [anthropicVertex, 'claude-haiku-5-5', simulator.vertexBaseUrl],
      ] as const) {
        simulator.next(behaviour);
        expect(await drive(provider, { ...HI, ...chat, stream }, targetFor(model, { baseUrl }))).toMatchObject(expected);
      }
    },
  );

  test.each(MODELS.flatMap((model) => [[model, false] as const, [model, true] as const]))(
    'agree about thinking in a round of tools: %s, stream %p',
    async (model, stream) => {
      const chat: ChatRequest = { ...HI, stream, tools: [WEATHER, NOTHING], reasoning_effort: 'high' };
      simulator.next({
        type: 'answer',
        thinking: 'Rain or sun?',
        redacted: 'cmVk',
        text: 'Let me look.',
        toolCalls: [{ name: 'the_weather_137a8fce', input: {} }],
      });
      const first = await drive(anthropic, chat, targetFor(model));
      const canThink = SIMULATED_MODELS[model]?.thinking.length !== 0;
      expect(first.message['reasoning_content']).toEqual(canThink ? 'Rain or sun?' : undefined);
      const [call] = first.message['tool_calls'] as { id: string }[];
      const { reasoning_content: _, ...said } = first.message;
      const messages = [...chat.messages, said, { role: 'tool', tool_call_id: call?.id, content: 'Sun' }];
      const second = await drive(anthropic, { ...chat, messages }, targetFor(model, { carried: first.decoded.carried ?? new Map() }));
      expect(second.message['content']).toBe(CLAUDE_TEXT);
      const sent = simulator.requests[1]?.body['messages'] as { content: { type: string }[] }[];
      const types = canThink ? ['thinking', 'redacted_thinking', 'text', 'tool_use'] : ['text', 'tool_use'];
      expect(sent[1]?.content.map(({ type }) => type)).toEqual(types);
      // A caller that rewrites its history still gets an answer.
      const edited = [{ role: 'system', content: 'Be brief.' }, ...messages];
      await drive(anthropic, { ...chat, messages: edited }, targetFor(model, { carried: first.decoded.carried ?? new Map() }));
      // So does one whose thinking was not stored.
      await drive(anthropic, { ...chat, messages }, targetFor(model));
    },
  );

  test('agree about a search that pauses', async () => {
    const chat = { ...HI, web_search_options: {}, stream: true };
    const search = { url: 'https://a.example', title: 'A' };
    simulator.next({ type: 'answer', search, stopReason: 'pause_turn' });
    const paused = await drive(anthropic, chat, targetFor('claude-opus-5', { maySearch: true }));
    const { continuation } = paused.decoded;
    simulator.next({ type: 'answer', search, text: 'Sun.' });
    const target = targetFor('claude-opus-5', { maySearch: true, ...(continuation === undefined ? {} : { continuation }) });
    expect(await drive(anthropic, chat, target)).toMatchObject({
      finish: 'stop',
      message: { content: 'Sun.', annotations: [{ type: 'url_citation', url_citation: { start_index: 0, end_index: 4, ...search } }] },
      decoded: { wireUsage: { server_tool_use: { web_search_requests: 1 } } },
    });
  });

  test.each([false, true])("agree about a caller's own tool with the name of the search, stream %p", async (stream) => {
    const own = { type: 'function', function: { name: 'web_search', parameters: { type: 'object', properties: {} } } };
    const chat: ChatRequest = { ...HI, stream, tools: [own], web_search_options: {} };
    const target = targetFor('claude-opus-5', { maySearch: true });
    simulator.next({ type: 'answer', toolCalls: [{ name: 'web_search_2a719626', input: {} }] });
    const { message } = await drive(anthropic, chat, target);
    expect(message['tool_calls']).toMatchObject([{ function: { name: 'web_search' } }]);
    const [call] = message['tool_calls'] as { id: string }[];
    const messages = [...chat.messages, message, { role: 'tool', tool_call_id: call?.id, content: 'Sun' }];
    await drive(anthropic, { ...chat, messages, tool_choice: 'auto' }, target);
    const sent = simulator.requests.at(-1)?.body as { tools: { name: string }[] };
    expect(sent.tools.map(({ name }) => name)).toEqual(['web_search_2a719626', 'web_search']);
  });

  test('agree about failures before, at the start of and inside an answer', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const stream = { ...HI, stream: true };
    simulator.next({ type: 'status', status: 529, error });
    expect(await failureOf(drive(anthropic, HI, targetFor('claude-opus-5')))).toMatchObject({ status: 529, code: 'overloaded' });
    for (const events of [0, 4]) {
      simulator.next({ type: 'error_event', events, error });
      expect(await failureOf(drive(anthropic, stream, targetFor('claude-opus-5')))).toMatchObject({ status: 529 });
    }
    simulator.next({ type: 'cut', events: 4 });
    expect((await drive(anthropic, stream, targetFor('claude-opus-5'))).decoded).toMatchObject({ isComplete: false, hasOutput: true });
    expect(await failureOf(drive(anthropic, HI, targetFor('claude-1')))).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await failureOf(drive(anthropic, HI, targetFor('claude-opus-5', { apiKey: 'wrong' })))).toMatchObject({ status: 401 });
  });
});

const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });

describe('the strict simulator', () => {
  const good = { model: 'claude-opus-5', max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] };
  const headers = { 'x-api-key': 'key', 'anthropic-version': '2023-06-01' };
  test.each<[string, JsonObject, Record<string, string>, string]>([
    ['an unknown field', { ...good, seed: 1 }, {}, 'seed: Extra inputs are not permitted'],
    ['a missing limit', { ...good, max_tokens: undefined }, {}, 'max_tokens: '],
    ['a limit that is too high', { ...good, max_tokens: 200_000 }, {}, 'max_tokens: 200000 > 128000'],
    ['an unknown version', good, { 'anthropic-version': '2020-01-01' }, 'anthropic-version: header is required'],
    ['an unknown beta flag', good, { 'anthropic-beta': 'x' }, 'Unexpected value(s)'],
    [
      'sampling with the newer version',
      { ...good, model: 'claude-sonnet-4-5', temperature: 1 },
      { 'anthropic-version': '2026-10-21' },
      'temperature: Extra inputs are not permitted',
    ],
    ['sampling on a newer model', { ...good, temperature: 0 }, {}, 'temperature is deprecated for this model.'],
    [
      'a conversation that starts with the model',
      { ...good, messages: [assistant({ type: 'text', text: 'a' }), ...good.messages] },
      {},
      'messages: first message must use the "user" role',
    ],
    [
      'a prefilled answer',
      { ...good, messages: [...good.messages, assistant({ type: 'text', text: 'a' })] },
      {},
      'This model does not support assistant message prefill.',
    ],
    [
      'a call without a result',
      {
        ...good,
        tools: [{ name: 'x', input_schema: { type: 'object' } }],
        messages: [...good.messages, assistant({ type: 'tool_use', id: '1', name: 'x', input: {} }), ...good.messages],
      },
      {},
      'messages.1: `tool_use` ids were found without `tool_result` blocks',
    ],
    [
      'thinking with a wrong signature',
      {
        ...good,
        messages: [
          ...good.messages,
          assistant({ type: 'thinking', thinking: 'a', signature: 'b' }, { type: 'text', text: 'a' }),
          ...good.messages,
        ],
      },
      {},
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    ['blank text', { ...good, messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }, {}, 'messages.0.content.0.text: '],
    [
      'an open schema',
      { ...good, output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      {},
      "output_config.format.schema: 'additionalProperties' must be false",
    ],
    [
      'a forced tool on a model that refuses it',
      { ...good, model: 'claude-opus-5-5', tools: [{ name: 'x', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
      {},
      'tool_choice: forced tool use is not supported',
    ],
  ])('refuses %s', (_, body, changes, message) => {
    const received = {
      method: 'POST',
      path: '/v1/messages',
      headers: { ...headers, ...changes },
      body: JSON.parse(JSON.stringify(body)) as JsonObject,
    };
    expect(examine(received, 'key')).toMatchObject({ refusal: { status: 400, message: expect.stringContaining(message) as unknown } });
  });
});

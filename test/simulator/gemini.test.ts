import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { SseParser } from '../../src/http/sse.ts';
import { gemini, geminiVertex } from '../../src/providers/gemini/gemini.ts';
import type { Dialect, ReplyContext, Target } from '../../src/providers/dialect.ts';
import { failureOf } from './failure.ts';
import { startGeminiSimulator, type GeminiSimulator } from './gemini.ts';
import { GEMINI_TEXT, type GeminiBehaviour } from './gemini-replies.ts';

let simulator: GeminiSimulator;
beforeAll(() => {
  simulator = startGeminiSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

const CITY = { type: 'object', properties: { city: { type: 'string', minLength: 1 } }, required: ['city'] };
const WEATHER = { type: 'function', function: { name: 'weather', parameters: CITY } };
const TIME = { type: 'function', function: { name: 'time' } };
const ASK = { role: 'user', content: 'Weather?' };

interface Asked extends Partial<Target> {
  readonly chat?: Partial<ChatRequest>;
  readonly isVertex?: boolean;
}

/** What the caller gets: the message of a complete answer, or of a joined stream. */
interface Outcome {
  readonly message: JsonObject;
  readonly finish: unknown;
  readonly totalTokens: number | undefined;
  readonly carried: ReadonlyMap<string, string>;
  readonly continuation: string | undefined;
}

/** Sends a request through the adapter to the simulator and reads the answer, complete or streamed. */
async function ask({ chat, isVertex = false, ...given }: Asked, isStreaming: boolean): Promise<Outcome> {
  const dialect: Dialect = isVertex ? geminiVertex : gemini;
  const full: ChatRequest = { model: 'gemini/x', messages: [ASK], ...chat, stream: isStreaming };
  const baseUrl = isVertex ? simulator.vertexBaseUrl : simulator.baseUrl;
  const target = { baseUrl, apiKey: simulator.apiKey, model: 'gemini-3.6-flash', outputTokensMax: undefined, ...given };
  const request = dialect.encodeRequest(full, target);
  const response = await fetch(request.url, { method: 'POST', headers: request.headers, body: request.body });
  const text = await response.text();
  if (response.status !== 200) throw dialect.decodeFault(text, response.status, (name) => response.headers.get(name));
  const continuation = given.continuation === undefined ? {} : { continuation: given.continuation };
  const context = {
    modelId: 'gemini/x',
    providerModel: target.model,
    wantsUsage: true,
    chat: full,
    requestId: 'req_1',
    createdSeconds: 1,
    ...continuation,
  };
  return isStreaming ? readStream(dialect, text, context) : readWhole(dialect, text, context);
}

function readWhole(dialect: Dialect, text: string, context: ReplyContext): Outcome {
  const { body, usage, carried = new Map(), continuation } = dialect.decodeReply(text, context);
  const [choice] = body['choices'] as { message: JsonObject; finish_reason: unknown }[];
  const totalTokens = usage === undefined ? undefined : usage.inputTokens + usage.cachedInputTokens + usage.outputTokens;
  return { message: choice?.message ?? {}, finish: choice?.finish_reason, totalTokens, carried, continuation };
}

function readStream(dialect: Dialect, text: string, context: ReplyContext): Outcome {
  const decoder = dialect.decodeStream(context);
  const parser = new SseParser();
  const events = [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
  const chunks = events.flatMap((event) => decoder.push(event)).map((chunk) => JSON.parse(chunk) as { choices: JsonObject[] });
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const message: Record<string, unknown> = { refusal: null };
  for (const { delta } of choices)
    for (const [name, value] of Object.entries(delta as JsonObject))
      message[name] = Array.isArray(value)
        ? [...((message[name] ?? []) as unknown[]), ...value.map(dropIndex)]
        : `${(message[name] ?? '') as string}${value as string}`;
  if (message['content'] === '' && message['tool_calls'] !== undefined) message['content'] = null;
  const finish = choices.findLast((choice) => choice['finish_reason'] !== null)?.['finish_reason'];
  expect(decoder.isComplete).toBe(true);
  return {
    message,
    finish,
    totalTokens: decoder.wireUsage?.total_tokens,
    carried: decoder.carried ?? new Map(),
    continuation: decoder.continuation,
  };
}

function dropIndex(call: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(call).filter(([name]) => name !== 'index'));
}

describe.each([
  ['complete', false],
  ['streamed', true],
])('an answer that is %s', (_, isStreaming) => {
  test.each<[string, GeminiBehaviour, Asked, message: JsonObject, finish: string]>([
    ['text', { type: 'text' }, {}, { content: GEMINI_TEXT }, 'stop'],
    ['a cache hit', { type: 'text', cachedTokens: 3 }, {}, { content: GEMINI_TEXT }, 'stop'],
    [
      'reasoning',
      { type: 'text', text: 'Yes', thoughts: 'Hm, so' },
      { chat: { reasoning_effort: 'high' } },
      { content: 'Yes', reasoning_content: 'Hm, so' },
      'stop',
    ],
    ['a length limit', { type: 'text', text: 'one two three' }, { chat: { max_completion_tokens: 2 } }, { content: 'one two' }, 'length'],
    ['a stop sequence', { type: 'text', text: 'one STOP three' }, { chat: { stop: ' STOP' } }, { content: 'one' }, 'stop'],
    [
      'JSON by a schema',
      { type: 'text' },
      { chat: { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: CITY } } } },
      { content: '{"city":"Zürich ☂"}' },
      'stop',
    ],
    ['any JSON', { type: 'text' }, { chat: { response_format: { type: 'json_object' } } }, { content: '{"answer":"yes"}' }, 'stop'],
    ['a blocked prompt', { type: 'refusal', at: 'prompt' }, {}, { content: '' }, 'content_filter'],
    ['a blocked answer', { type: 'refusal', at: 'answer' }, {}, { content: 'Well, ' }, 'content_filter'],
  ])('has %s', async (...[, behaviour, asked, message, finish]) => {
    simulator.next(behaviour);
    const got = await ask(asked, isStreaming);
    expect(got).toMatchObject({ finish, message: { role: 'assistant', refusal: null, ...message } });
    expect(got.totalTokens).toBeGreaterThan(0);
  });

  test.each<[string, Asked]>([
    ['the newest models', {}],
    ['the newest models with their own ids', { chat: { metadata: { ids: 'yes' } } }],
    ['Vertex', { isVertex: true }],
    ['older models', { model: 'gemini-2.5-pro' }],
  ])('calls tools together, and %s accept the results', async (_name, asked) => {
    const tools = [WEATHER, TIME];
    const calls = [{ name: 'weather', args: { city: 'Rome' } }, { name: 'weather', args: { city: 'Oslo' } }, { name: 'time' }];
    simulator.next({ type: 'calls', calls, hasIds: asked.chat?.['metadata'] !== undefined });
    const first = await ask({ ...asked, chat: { ...asked.chat, tools } }, isStreaming);
    expect(first.finish).toBe('tool_calls');
    const made = first.message['tool_calls'] as { id: string; function: JsonObject }[];
    expect(made.map((call) => call.function)).toEqual([
      { name: 'weather', arguments: '{"city":"Rome"}' },
      { name: 'weather', arguments: '{"city":"Oslo"}' },
      { name: 'time', arguments: '{}' },
    ]);
    const results = made.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '{"$ref":"#"}' })).toReversed();
    const messages = [ASK, first.message, ...results];
    expect(await ask({ ...asked, chat: { tools, messages } }, isStreaming)).toMatchObject({ finish: 'stop' });
    // Most clients keep only OpenAI's fields. Then the gateway's store helps or, as a last resort, the value that skips the check.
    const bare = made.map(({ id, function: called }) => ({ id, type: 'function', function: called }));
    const forgetful = [ASK, { role: 'assistant', content: null, tool_calls: bare }, ...results];
    for (const carried of [first.carried, new Map<string, string>()])
      expect(await ask({ ...asked, chat: { tools, messages: forgetful }, carried }, isStreaming)).toMatchObject({ finish: 'stop' });
    expect(JSON.stringify(simulator.requests[2]?.body)).not.toContain('skip_thought');
    // The other service accepts none of these signatures.
    const elsewhere = { ...asked, isVertex: asked.isVertex !== true, carried: first.carried };
    expect(await ask({ ...elsewhere, chat: { tools, messages } }, isStreaming)).toMatchObject({ finish: 'stop' });
  });

  test('that breaks off continues with its token', async () => {
    simulator.always({ type: 'continuation', texts: ['One two ', 'three.'] });
    const first = await ask({}, isStreaming);
    expect(first.message['content']).toBe('One two ');
    const rest = await ask({ continuation: String(first.continuation) }, isStreaming);
    expect(rest).toMatchObject({ message: { content: 'three.' }, finish: 'stop', continuation: undefined });
  });

  test.each<[string, GeminiBehaviour, Asked, fault: object]>([
    ['a wrong key', { type: 'text' }, { apiKey: 'AIza-wrong' }, { status: 401 }],
    ['a wrong token', { type: 'text' }, { apiKey: 'ya29.wrong', isVertex: true }, { status: 401 }],
    ['a wrong address', { type: 'text' }, { model: 'wrong/model' }, { status: 404 }],
    [
      'too many requests',
      { type: 'status', status: 429, error: { message: 'Slow down', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '7s' }] } },
      {},
      { status: 429, retryAfterSeconds: 7 },
    ],
    ['a malformed call', { type: 'malformed_call' }, {}, { status: 502 }],
    ['an error at once', { type: 'error_event', events: 0 }, {}, { status: 503 }],
    ['an error in the middle', { type: 'error_event', events: 3 }, {}, { status: 503 }],
    ['a made-up continuation', { type: 'text' }, { continuation: '{"token":"x","toolCalls":0}' }, { status: 400 }],
  ])('fails with %s', async (...[, behaviour, asked, fault]) => {
    simulator.next(behaviour);
    expect(await failureOf(ask(asked, isStreaming))).toMatchObject({ name: 'ProviderFault', ...fault });
  });
});

test('a model keeps its own behaviour until the simulator is reset', async () => {
  simulator.forModel('gemini-2.5-pro', { type: 'text', text: 'mine' });
  expect((await ask({ model: 'gemini-2.5-pro' }, false)).message['content']).toBe('mine');
  expect((await ask({}, false)).message['content']).toBe(GEMINI_TEXT);
  expect(simulator.requests.map(({ model }) => model)).toEqual(['gemini-2.5-pro', 'gemini-3.6-flash']);
});

describe('no request we encode is refused', () => {
  const schema = {
    $schema: 's',
    type: 'object',
    definitions: { a: { const: true } },
    properties: { b: { $ref: '#/definitions/a', title: 't' } },
  };
  const json = { type: 'json_schema', json_schema: { name: 'x', schema } };
  const requests: [string, Partial<ChatRequest>][] = [
    ['sampling', { temperature: 2, top_p: 1, presence_penalty: 1, frequency_penalty: -1, seed: 2 ** 40, stop: ['', 'a'], n: 1 }],
    ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((effort): [string, Partial<ChatRequest>] => [
      effort,
      { reasoning_effort: effort },
    ]),
    ['a format', { response_format: json }],
    ['a format together with tools', { response_format: json, tools: [TIME] }],
    ['a format together with a forced tool', { response_format: json, tools: [TIME], tool_choice: 'required' }],
    ['a format together with a forbidden tool', { response_format: json, tools: [TIME], tool_choice: 'none' }],
    [
      'a format together with a strict tool',
      { response_format: json, tools: [{ type: 'function', function: { name: 'f', strict: true } }] },
    ],
    ['a strict tool', { tools: [{ type: 'function', function: { name: '1st', strict: true, parameters: schema } }] }],
    ['a named tool', { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'weather' } } }],
    ['instructions', { messages: [{ role: 'system', content: 'A' }, ASK, { role: 'developer', content: 'B' }] }],
    ['instructions alone', { messages: [{ role: 'system', content: 'A' }] }],
    ['empty messages', { messages: [ASK, { role: 'assistant', content: '' }, ASK] }],
    ['everything else', { service_tier: 'flex', user: 'u', store: true, logit_bias: {}, logprobs: true, top_logprobs: 2 }],
  ];
  const models = ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-3-flash-preview'].concat([
    'gemini-3.1-pro-preview',
    'gemini-3.7-flash',
    'gemini-4-argon',
    'gemma-3-27b-it',
  ]);

  test.each(requests)('%s', async (_, chat) => {
    for (const model of models)
      for (const isVertex of [false, true]) expect(await ask({ chat, model, isVertex }, false)).toMatchObject({ finish: 'stop' });
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { describeModel, startGate, type Gate, type TestKey } from '../simulator/gate.ts';
import { until } from '../until.ts';

/** A model that refuses tools in streams is asked for the whole answer, which its callers get as a stream. */

const KEEP_ALIVE_MS = 500;
const USE = { toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Bern' } } };
const CLOCK = { toolUse: { toolUseId: 't2', name: 'clock', input: {} } };
const ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Let me see.' }, USE, CLOCK] } },
  stopReason: 'tool_use',
  usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
};
const TOOLS = ['weather', 'clock'].map((name) => ({ type: 'function', function: { name } }));
const CHAT = { model: 'mock/llama', messages: [{ role: 'user', content: 'Hi' }], stream: true };

const paths: string[] = [];
let aborted = 0;
let answer: () => Promise<Response> = () => Promise.resolve(Response.json(ANSWER));
let gate: Gate;
let key: TestKey;
const bedrock = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch(request) {
    paths.push(new URL(request.url).pathname.split('/').at(-1) ?? '');
    request.signal.addEventListener('abort', () => (aborted += 1));
    return answer();
  },
});

beforeAll(async () => {
  gate = await startGate({
    simulator: { baseUrl: bedrock.url.origin, apiKey: 'k' },
    providers: { aws: { dialect: 'bedrock', base_url: bedrock.url.origin, api_key: 'k' } },
    models: [
      {
        ...describeModel('mock/llama', 'aws', { input: 1, output: 1 }),
        routes: [{ provider: 'aws', model: 'us.meta.llama3-3-70b-instruct-v1:0' }],
      },
    ],
    timeouts: { keep_alive_ms: KEEP_ALIVE_MS },
  });
  key = await gate.makeKey();
});

afterAll(async () => {
  await gate.stop();
  await bedrock.stop(true);
});

const failure = (): Response =>
  Response.json({ message: 'Too many' }, { status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException' } });

function ask(body: JsonObject, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' };
  return fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...CHAT, ...body }),
    signal: signal ?? null,
  });
}

function chunksOf(text: string): { choices: { delta: JsonObject; finish_reason: unknown }[]; usage?: JsonObject }[] {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return events.map((event) => JSON.parse(event.slice('data: '.length)) as ReturnType<typeof chunksOf>[0]);
}

describe('a stream with tools from a model that cannot stream them', () => {
  test('is the whole answer in pieces', async () => {
    answer = () => Promise.resolve(Response.json(ANSWER));
    const response = await ask({ tools: TOOLS, stream_options: { include_usage: true } });
    const text = await response.text();
    const chunks = chunksOf(text);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(paths.at(-1)).toBe('converse');
    expect(chunks.map(({ choices: [choice] }) => choice?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Let me see.' },
      { tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }] },
      { tool_calls: [{ index: 1, id: 't2', type: 'function', function: { name: 'clock', arguments: '{}' } }] },
      {},
      undefined,
    ]);
    expect(chunks[4]?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunks[5]?.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
    expect(text).toEndWith('data: [DONE]\n\n');
  });

  test('is kept alive while the answer is awaited', async () => {
    const late = Promise.withResolvers<Response>();
    answer = () => late.promise;
    const response = await ask({ tools: TOOLS });
    expect(response.status).toBe(200);
    let text = '';
    const reading = (async () => {
      for await (const bytes of response.body ?? []) text += Buffer.from(bytes).toString();
    })();
    await until(() => text.split(': keep-alive').length > 3);
    expect(text).not.toContain('data:');
    late.resolve(Response.json(ANSWER));
    await reading;
    expect(chunksOf(text)).toHaveLength(5);
    expect(text).toEndWith('data: [DONE]\n\n');
  });

  test('of legacy functions has the legacy call', async () => {
    answer = () => Promise.resolve(Response.json(ANSWER));
    const text = await (await ask({ functions: TOOLS.map((tool) => tool.function) })).text();
    expect(text).toContain('"function_call":{"name":"weather","arguments":"{\\"city\\":\\"Bern\\"}"}');
  });

  test('of several choices has one index each', async () => {
    answer = () => Promise.resolve(Response.json(ANSWER));
    const chunks = chunksOf(await (await ask({ tools: TOOLS, n: 2 })).text()) as unknown as { choices: { index: number }[] }[];
    expect(
      chunks
        .map(({ choices }) => String(choices[0]?.index))
        .toSorted()
        .join(''),
    ).toBe('0000011111');
  });

  test('that fails at once is an error with a status, and later an error in the stream', async () => {
    answer = () => Promise.resolve(failure());
    expect((await ask({ tools: TOOLS })).status).toBe(429);
    const late = Promise.withResolvers<Response>();
    answer = () => late.promise;
    const response = await ask({ tools: TOOLS });
    expect(response.status).toBe(200);
    late.resolve(failure());
    const text = await response.text();
    expect(text).toContain('data: {"error":');
    expect(text).not.toContain('[DONE]');
  });

  test('is aborted at the provider when the client leaves', async () => {
    answer = () => new Promise(() => undefined);
    const [before, asked] = [aborted, paths.length];
    const leaving = new AbortController();
    const response = await ask({ tools: TOOLS }, leaving.signal);
    expect(response.status).toBe(200);
    expect(paths.length).toBe(asked + 1);
    leaving.abort();
    await until(() => aborted > before);
    await gate.settledBalance(key);
  });
});

test('a stream without tools from such a model is streamed', async () => {
  answer = () => Promise.resolve(Response.json({ message: 'no' }, { status: 400, headers: { 'x-amzn-errortype': 'ValidationException' } }));
  expect((await ask({})).status).toBe(400);
  expect(paths.at(-1)).toBe('converse-stream');
});

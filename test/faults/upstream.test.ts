import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Behaviour } from '../simulator/behaviours.ts';
import { failureOf } from '../simulator/failure.ts';
import { describeModel } from '../simulator/gate.ts';
import { withCost } from '../simulator/invoice.ts';
import type { JsonObject, Usage } from '../simulator/wire.ts';
import { errorBody } from '../simulator/wire.ts';
import { until } from '../until.ts';
import { type Answer, type Caller, CHAT, readError, readEvents, startCaller, STREAM } from './caller.ts';

const SPICY = { message: 'Too spicy.', type: 'invalid_request_error', param: 'top_p', code: 'unsupported_value' };
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const PRICE = { input: 2.5, output: 10 };

let caller: Caller;

beforeAll(async () => {
  caller = await startCaller({
    timeouts: { connect_ms: 400, first_byte_ms: 400, answer_ms: 600, idle_ms: 400, total_ms: 1500 },
    // Port 1 is closed. The second address belongs to a network reserved for documentation.
    providers: {
      refusing: { dialect: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: '${MOCK_KEY}' },
      unreachable: { dialect: 'openai', base_url: 'http://192.0.2.1:9/v1', api_key: '${MOCK_KEY}' },
    },
    models: [describeModel('mock/refusing', 'refusing', PRICE), describeModel('mock/unreachable', 'unreachable', PRICE)],
  });
}, 120_000);
afterEach(() => caller.simulator.reset());
afterAll(() => caller.stop(), 120_000);

describe('a provider status of', () => {
  test('400 stays 400 with its message', async () => {
    const { json, streamed, chargedNanos } = await caller.askBoth({ type: 'status', status: 400, body: errorBody(SPICY) });
    for (const answer of [json, streamed]) {
      expect(answer.status).toBe(400);
      expect(readError(answer.text)).toEqual(SPICY);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
    expect(chargedNanos).toBe(0n);
  });

  test.each<[string, unknown]>([
    ['a flat body', { object: 'error', message: 'Too spicy.', type: 'BadRequestError', param: null, code: 400 }],
    ['an error that is text', { code: 'invalid', error: 'Too spicy.' }],
    ['a code that is a number', { error: { code: 400, message: 'Too spicy.', metadata: {} } }],
    ['a body that repeats a long request', { error: { message: 'Too spicy.', input: 'Hi'.repeat(100_000) } }],
    ['an error in an array', [{ error: { code: 400, message: 'Too spicy.', status: 'INVALID_ARGUMENT' } }]],
  ])('400 keeps its message in %s', async (_, body) => {
    const answer = await caller.ask({ type: 'status', status: 400, body });
    const error = readError(answer.text);
    expect(answer.status).toBe(400);
    expect(error['message']).toContain('Too spicy.');
    expect(error['code'] === null || typeof error['code'] === 'string').toBe(true);
  });

  test.each<[string, (secret: string) => unknown]>([
    ['no body', () => ''],
    ['an HTML page', () => '<html><body>Bad request</body></html>'],
    ['JSON without an error', () => ({ detail: 7 })],
    ['a body longer than is read', () => errorBody({ message: 'Hi'.repeat(1_000_000), type: 'invalid_request_error' })],
    ['our own key in its message', (secret) => errorBody({ message: `Bad key ${secret}`, type: 'invalid_request_error' })],
  ])('400 with %s stays 400', async (_, body) => {
    const answer = await caller.ask({ type: 'status', status: 400, body: body(caller.simulator.apiKey) });
    expect(answer.status).toBe(400);
    expect(readError(answer.text)['message']).not.toContain('<html>');
  });

  test.each([401, 403, 404])("%i is the gate operator's problem: 500 to the caller, an error in the log", async (status) => {
    const body = errorBody({ message: 'Incorrect API key provided: sk-ours.', type: 'invalid_request_error' });
    const { json, streamed, chargedNanos, logged } = await caller.askBoth({ type: 'status', status, body });
    for (const answer of [json, streamed]) {
      expectServerError(answer);
      expect(answer.text).not.toContain('Incorrect API key');
    }
    expect(chargedNanos).toBe(0n);
    await until(() => logged().filter(isAlert).length >= 2);
  });

  test.each<[string, RegExp]>([
    ['7', /^7$/u],
    ['0.5', /^1$/u],
    [new Date(Date.now() + 60_000).toUTCString(), /^[1-6]\d$/u],
    ['soon', /^[1-9]\d*$/u],
    ['-3', /^[1-9]\d*$/u],
    ['', /^[1-9]\d*$/u],
  ])('429 stays 429, with whole seconds to wait: %p', async (retryAfter, expected) => {
    const headers: Record<string, string> = retryAfter === '' ? {} : { 'retry-after': retryAfter };
    const body = errorBody({ message: 'Slow down.', type: 'tokens', code: 'rate_limit_exceeded' });
    const { json, streamed, chargedNanos } = await caller.askBoth({ type: 'status', status: 429, body, headers });
    for (const answer of [json, streamed]) {
      expect(answer.status).toBe(429);
      expect(readError(answer.text)['code']).toBeString();
      expect(answer.headers.get('retry-after')).toMatch(expected);
    }
    expect(chargedNanos).toBe(0n);
  });

  test.each([500, 502, 503, 504, 529])('%i becomes 500', async (status) => {
    for (const body of ['<html>Bad gateway</html>', errorBody(SPICY)]) {
      const { json, streamed, chargedNanos } = await caller.askBoth({ type: 'status', status, body });
      expectServerError(json);
      expectServerError(streamed);
      expect(chargedNanos).toBe(0n);
    }
  });

  test.each([201, 301, 307, 402, 405, 408, 409, 413, 415, 418, 422, 451])("%i becomes one of the gate's own statuses", async (status) => {
    const headers = { location: `${caller.simulator.baseUrl}/elsewhere` };
    const answer = await caller.ask({ type: 'status', status, body: errorBody(SPICY), headers });
    expect([400, 429, 500]).toContain(answer.status);
    readError(answer.text);
    expect(answer.chargedNanos).toBe(0n);
    expect(caller.simulator.requests.filter((request) => request.path.endsWith('/elsewhere'))).toEqual([]);
  });
});

describe('a failure before the first token is an ordinary error', () => {
  test.each<[string, Behaviour]>([
    ['an error in a 200', { type: 'error_in_200' }],
    ['a cut before the headers', { type: 'cut', moment: { at: 'before_headers' } }],
    ['a cut after the headers', { type: 'cut', moment: { at: 'after_headers' } }],
    ['silence before the headers', { type: 'hang', moment: { at: 'before_headers' } }],
    ['silence after the headers', { type: 'hang', moment: { at: 'after_headers' } }],
    ['an HTML page', { type: 'garbage', content: 'html', chunks: 0 }],
    ['invalid JSON', { type: 'garbage', content: 'invalid_json', chunks: 0 }],
    ['invalid UTF-8', { type: 'garbage', content: 'invalid_utf8', chunks: 0 }],
    ['a line without end', { type: 'endless_line', bytes: 70_000_000, chunks: 0 }],
  ])('%s', async (_, behaviour) => {
    const { json, streamed, chargedNanos } = await caller.askBoth(behaviour);
    expectServerError(json);
    expectServerError(streamed);
    expect(chargedNanos).toBe(0n);
    await until(() => caller.simulator.openReplies === 0);
  });

  test('an answer that is nested too deeply to be serialised', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
    const message = { role: 'assistant', content: 'Hi' };
    const body = JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage });
    const headers = { 'content-type': 'application/json' };
    for (const place of ['"content":"Hi"', '"prompt_tokens":5']) {
      const beganAtMs = performance.now();
      const answer = await caller.ask({ type: 'status', status: 200, body: body.replace(place, `${place},"deep":${deep}`), headers });
      expectServerError(answer);
      expect([place, answer.chargedNanos]).toEqual([place, 0n]);
      // Serialising it would block the runtime for seconds.
      expect(performance.now() - beganAtMs).toBeLessThan(2000);
    }
  });

  test.each<[string, Behaviour]>([
    ['an error after the role and before any text', { type: 'error_event', chunks: 1 }],
    ['a cut after the role and before any text', { type: 'cut', moment: { at: 'after_chunks', chunks: 1 } }],
    ['JSON with an error instead of a stream', { type: 'status', status: 200, body: { code: 'busy', error: 'Too many requests' } }],
    ['a stream without any event', { type: 'status', status: 200, body: 'data: [DONE]\n\n', headers: EVENT_STREAM }],
  ])('%s', async (_, behaviour) => {
    const answer = await caller.ask(behaviour, STREAM);
    expectServerError(answer);
    expect(answer.chargedNanos).toBe(0n);
  });

  test.each<[string, Behaviour]>([
    ['a body cut in half', { type: 'cut', moment: { at: 'after_chunks', chunks: 1 } }],
    ['a body that stalls in the middle', { type: 'hang', moment: { at: 'after_chunks', chunks: 1 } }],
    ['a body slower than the time for an answer', { type: 'pace', gapMs: 500 }],
  ])('%s', async (_, behaviour) => {
    const answer = await caller.ask(behaviour);
    expectServerError(answer);
    expect(answer.chargedNanos).toBe(0n);
  });

  test.each(['mock/refusing', 'mock/unreachable'])('a provider that cannot be reached: %s', async (model) => {
    const startedAt = performance.now();
    const { json, streamed, chargedNanos } = await caller.askBoth({ type: 'answer' }, { model });
    expectServerError(json);
    expectServerError(streamed);
    expect(chargedNanos).toBe(0n);
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});

describe('a failure after the first token ends the stream with one error event', () => {
  test.each<[string, Behaviour]>([
    ['an error event', { type: 'error_event', chunks: 4 }],
    ['a cut between events', { type: 'cut', moment: { at: 'after_chunks', chunks: 4 } }],
    ['a cut inside an event', { type: 'cut', moment: { at: 'mid_event', chunks: 4 } }],
    ['a stall', { type: 'hang', moment: { at: 'after_chunks', chunks: 4 } }],
    ['a stall inside an event', { type: 'hang', moment: { at: 'mid_event', chunks: 4 } }],
    ['invalid JSON', { type: 'garbage', content: 'invalid_json', chunks: 4 }],
    ['invalid UTF-8', { type: 'garbage', content: 'invalid_utf8', chunks: 4 }],
    ['a line without end', { type: 'endless_line', bytes: 70_000_000, chunks: 4 }],
  ])('%s', async (_, behaviour) => {
    for (const body of [STREAM, { stream: true }]) {
      const answer = await caller.ask(behaviour, body);
      expectBrokenStream(answer);
      expect(readEvents(answer.text)).toHaveLength(4 + 1);
      expect(answer.chargedNanos).toBe(0n);
    }
    await until(() => caller.simulator.openReplies === 0);
  });

  test.each<[string, string]>([
    ['an end without a finish', ''],
    ['a chunk that carries an error', 'data: {"id":"c","choices":[],"error":{"code":502,"message":"Provider disconnected"}}\n\n'],
  ])('%s', async (_, ending) => {
    const chunk =
      'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}]}\n\n';
    const answer = await caller.ask({ type: 'status', status: 200, body: `${chunk}${ending}`, headers: EVENT_STREAM }, STREAM);
    expectBrokenStream(answer);
    expect(answer.chargedNanos).toBe(0n);
  });

  test('a stream longer than the total time', async () => {
    const answer = await caller.ask({ type: 'pace', gapMs: 150 }, STREAM);
    expectBrokenStream(answer);
    expect(readEvents(answer.text).length).toBeWithin(4, 13);
    expect(answer.chargedNanos).toBe(0n);
  });
});

describe('a failure after the end of an answer does not count, and the answer is charged', () => {
  /** The number of events after the last chunk that are missing: the usage, and [DONE]. */
  test.each<[string, 'cut' | 'hang', 'after_chunks' | 'mid_event', number]>([
    ['a cut before the usage', 'cut', 'after_chunks', 2],
    ['a cut inside the usage', 'cut', 'mid_event', 2],
    ['silence before the usage', 'hang', 'after_chunks', 2],
    ['a cut before [DONE]', 'cut', 'after_chunks', 1],
    ['silence before [DONE]', 'hang', 'after_chunks', 1],
  ])('%s', async (_, type, at, missing) => {
    const { text } = await caller.ask({ type: 'answer' }, STREAM);
    const chunks = (caller.simulator.requests[0]?.chunksSent ?? 0) - missing;
    const answer = await caller.ask({ type, moment: { at, chunks } }, STREAM);
    const [received, whole] = [answer.text, text].map((stream) => readEvents(stream).map(({ choices }) => choices));
    expect(received).toEqual(whole);
    expect(answer.text).toEndWith('data: [DONE]\n\n');
    const { usage } = readEvents(answer.text).at(-1) as { usage: Usage & { cost: number } };
    expect(answer.chargedNanos).toBeGreaterThan(0n);
    expect(Number(answer.chargedNanos) / 1e9).toBe(usage.cost);
    if (missing === 1) expect(usage).toEqual(withCost(caller.simulator.requests[0]?.usage as Usage));
  });
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['a content type in capital letters', { 'content-type': 'Text/Event-Stream;Charset=UTF-8' }],
  ['an empty content encoding', { ...EVENT_STREAM, 'content-encoding': '' }],
])('a stream with %s is relayed', async (_, headers) => {
  const chunk = { id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const answer = await caller.ask({ type: 'status', status: 200, body, headers }, STREAM);
  expect(answer.text).toContain('"content":"Hi"');
  expect(answer.text).toEndWith('data: [DONE]\n\n');
  expect(answer.chargedNanos).toBeGreaterThan(0n);
});

test('a request that failed frees its concurrency slot at once', async () => {
  const { secret } = await caller.gate.makeKey({ concurrent: 1 });
  const ask = async (signal: AbortSignal): Promise<number> => {
    const response = await fetch(`${caller.gate.baseUrl}/chat/completions`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, stream: true }),
    });
    await response.text();
    return response.status;
  };
  const moment = { at: 'after_chunks', chunks: 4 } as const;
  for (const behaviour of [{ type: 'error_in_200' }, { type: 'cut', moment }, { type: 'status', status: 503, body: '' }] as const) {
    caller.simulator.always(behaviour);
    expect(await ask(AbortSignal.timeout(5000))).not.toBe(429);
  }
  caller.simulator.always({ type: 'hang', moment });
  expect(await failureOf(ask(AbortSignal.timeout(100)))).toMatchObject({ name: 'TimeoutError' });
  caller.simulator.always({ type: 'answer' });
  await until(async () => (await ask(AbortSignal.timeout(5000))) === 200, 5000);
});

function isAlert(line: JsonObject): boolean {
  return line['level'] === 'error' || Number(line['level']) >= 50;
}

function expectServerError(answer: Answer): void {
  expect(answer.status).toBe(500);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/u);
  const error = readError(answer.text);
  expect(error).toMatchObject({ type: 'server_error', param: null });
  expect(error['code']).toBeString();
}

function expectBrokenStream(answer: Answer): void {
  expect(answer.status).toBe(200);
  const events = readEvents(answer.text);
  const last = events.at(-1) as { error: JsonObject };
  expect(Object.keys(last)).toEqual(['error']);
  expect(answer.text).toEndWith(`data: ${JSON.stringify(last)}\n\n`);
  const error = readError(JSON.stringify(last));
  expect(error).toMatchObject({ type: 'server_error', param: null });
  expect(error['code']).toBeString();
  expect(events.filter((event) => 'error' in event)).toHaveLength(1);
  const choices = events.flatMap((event) => (event['choices'] ?? []) as { finish_reason: unknown }[]);
  expect(choices.filter((choice) => choice.finish_reason !== null)).toEqual([]);
}

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { until } from '../until.ts';
import { ANSWER_TEXT, type Behaviour } from './behaviours.ts';
import { failureOf } from './failure.ts';
import type { OpenAiSimulator } from './openai.ts';
import { startOpenAiSimulator } from './openai.ts';

const TOKENS = ANSWER_TEXT.split(' ').length;
const CHAT = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Hi' }] };
const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
  },
};

let simulator: OpenAiSimulator;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  client = new OpenAI({ baseURL: simulator.baseUrl, apiKey: simulator.apiKey, maxRetries: 0 });
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

async function readStream(body: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}): Promise<{
  chunks: OpenAI.ChatCompletionChunk[];
  text: string;
  error: unknown;
}> {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  let error: unknown;
  try {
    const stream = await client.chat.completions.create({ ...CHAT, ...body, stream: true });
    for await (const chunk of stream) chunks.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  return { chunks, text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), error };
}

describe('a healthy provider', () => {
  test('answers with a complete chat.completion and records the request', async () => {
    const { data, response } = await client.chat.completions.create(CHAT).withResponse();
    expect(data).toMatchObject({ object: 'chat.completion', model: 'gpt-x-2026-08-01' });
    expect(data.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: ANSWER_TEXT, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + TOKENS);
    expect(response.headers.get('x-request-id')).toStartWith('req_');
    expect(response.headers.get('openai-processing-ms')).toBe('42');
    expect(simulator.requests).toHaveLength(1);
    expect(simulator.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions', body: CHAT });
  });

  test('streams role, fragments and finish, without usage unless requested', async () => {
    const { chunks, text } = await readStream();
    expect(text).toBe(ANSWER_TEXT);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
  });

  test('sends null usage on every chunk and one usage chunk without choices when requested', async () => {
    const { chunks } = await readStream({ stream_options: { include_usage: true } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: TOKENS } });
  });

  test('gives each of n choices its own role, text and finish', async () => {
    const { chunks } = await readStream({ n: 3 });
    for (const index of [0, 1, 2]) {
      const choices = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
      expect(choices.map((choice) => choice.delta.content ?? '').join('')).toBe(ANSWER_TEXT);
      expect(choices.at(-1)?.finish_reason).toBe('stop');
    }
  });

  test('streams tool calls in fragments that .stream() joins', async () => {
    const stream = client.chat.completions.stream({ ...CHAT, tools: [WEATHER] });
    const [choice] = (await stream.finalChatCompletion()).choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const [call] = choice?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } });
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ city: 'Zürich ☂', days: 7 });
  });

  test('returns logprobs only when requested, and stops at the token limit with length', async () => {
    const { choices } = await client.chat.completions.create({
      ...CHAT,
      logprobs: true,
      top_logprobs: 2,
      max_completion_tokens: 3,
    });
    expect(choices[0]?.finish_reason).toBe('length');
    expect(choices[0]?.logprobs?.content).toHaveLength(3);
    expect(choices[0]?.logprobs?.content?.[0]?.top_logprobs).toHaveLength(2);
  });

  test.each<Behaviour>([
    { type: 'framing', style: 'crlf' },
    { type: 'framing', style: 'comments' },
    { type: 'framing', style: 'one_write' },
    { type: 'random_cuts', seed: 7 },
    { type: 'no_done' },
    { type: 'usage', value: 'on_finish_chunk' },
    { type: 'pace', gapMs: 2 },
  ])('returns the same text for %o', async (behaviour) => {
    simulator.always(behaviour);
    expect(await readStream()).toMatchObject({ text: ANSWER_TEXT, error: undefined });
  });

  test('returns a huge text completely, as JSON and as a stream', async () => {
    simulator.always({ type: 'huge', bytes: 2_000_000 });
    expect((await readStream()).text.length).toBeGreaterThanOrEqual(2_000_000);
    const { choices } = await client.chat.completions.create(CHAT);
    expect(choices[0]?.message.content?.length).toBeGreaterThanOrEqual(2_000_000);
  });
});

describe('a provider that refuses', () => {
  test('answers 401 to any other key', async () => {
    const stranger = client.withOptions({ apiKey: 'sk-wrong' });
    expect(await failureOf(stranger.chat.completions.create(CHAT))).toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test('applies queued behaviours first, then the model’s, then the default', async () => {
    simulator.next({ type: 'status', status: 429, body: { error: {} }, headers: { 'retry-after': '1' } });
    simulator.forModel('gpt-x', { type: 'status', status: 400, body: { error: {} } });
    expect(await failureOf(client.chat.completions.create(CHAT))).toBeInstanceOf(OpenAI.RateLimitError);
    expect(await failureOf(client.chat.completions.create(CHAT))).toBeInstanceOf(OpenAI.BadRequestError);
    expect((await client.chat.completions.create({ ...CHAT, model: 'other' })).choices).toHaveLength(1);
  });

  test.each<[number, Behaviour]>([
    [0, { type: 'error_in_200' }],
    [3, { type: 'error_event', chunks: 3 }],
  ])('surfaces an error event after %i chunks', async (count, behaviour) => {
    simulator.always(behaviour);
    const { chunks, error } = await readStream();
    expect(chunks).toHaveLength(count);
    expect(error).toBeInstanceOf(OpenAI.APIError);
  });
});

describe('a provider that breaks', () => {
  test.each<[number, Behaviour]>([
    [0, { type: 'cut', moment: { at: 'before_headers' } }],
    [0, { type: 'cut', moment: { at: 'after_headers' } }],
    [4, { type: 'cut', moment: { at: 'after_chunks', chunks: 4 } }],
    [4, { type: 'cut', moment: { at: 'mid_event', chunks: 4 } }],
    [0, { type: 'garbage', content: 'invalid_json', chunks: 0 }],
    [2, { type: 'garbage', content: 'invalid_utf8', chunks: 2 }],
  ])('breaks after %i chunks for %o', async (count, behaviour) => {
    simulator.always(behaviour);
    const { chunks, error } = await readStream();
    expect(chunks).toHaveLength(count);
    expect(error).toBeInstanceOf(Error);
    expect(simulator.requests[0]?.abortedAt).toBeUndefined();
  });

  test.each<Behaviour>([
    { type: 'hang', moment: { at: 'before_headers' } },
    { type: 'hang', moment: { at: 'after_headers' } },
    { type: 'hang', moment: { at: 'after_chunks', chunks: 2 } },
    { type: 'pace', gapMs: 60_000 },
  ])('notices that the caller disconnected during %o', async (behaviour) => {
    simulator.always(behaviour);
    const abort = new AbortController();
    const call = client.chat.completions.create({ ...CHAT, stream: true }, { signal: abort.signal });
    const reading = call.then((stream) => Array.fromAsync(stream)).catch(() => undefined);
    await simulator.untilRequests(1);
    await until(() => simulator.openReplies === 1);
    const leftAt = performance.now();
    abort.abort();
    await reading;
    // The test machine may be busy with other work.
    await until(() => simulator.openReplies === 0);
    expect(simulator.requests[0]?.abortedAt).toBeWithin(leftAt, leftAt + 1000);
  });

  test('sends an endless line up to its limit', async () => {
    simulator.always({ type: 'endless_line', bytes: 100_000, chunks: 0 });
    const response = await fetch(`${simulator.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${simulator.apiKey}` },
      body: JSON.stringify({ ...CHAT, stream: true }),
    });
    const text = await response.text();
    expect(text.length).toBeGreaterThan(100_000);
    expect(text).not.toContain('\n');
  });
});

import { describe, expect, test } from 'bun:test';
import { modelSchema } from '../../src/catalog/catalog.ts';
import { SseParser } from '../../src/http/sse.ts';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { readUsage } from '../../src/openai/usage.ts';
import { sandbox, SANDBOX_MODELS } from '../../src/providers/sandbox.ts';
import { totalTokens } from '../../src/tokens.ts';
import { cpuMs } from '../cpu.ts';

const ECHO: ChatRequest = { model: 'echo', messages: [{ role: 'user', content: 'One two three four five' }] };
const STORY: ChatRequest = { model: 'story', messages: [{ role: 'user', content: 'Tell me a story' }] };

interface Choice {
  readonly index: number;
  readonly message: { readonly role: string; readonly content: string; readonly refusal: null };
  readonly delta: { readonly role?: string; readonly content?: string };
  readonly finish_reason: string | null;
}

async function ask(
  chat: ChatRequest,
  { outputTokensMax, signal }: { outputTokensMax?: number; signal?: AbortSignal } = {},
): Promise<Response> {
  if (sandbox.answer === undefined) throw new Error('the sandbox has no answer of its own');
  const request = sandbox.encodeRequest(chat, { baseUrl: '', apiKey: undefined, model: chat.model, outputTokensMax });
  return sandbox.answer(request, signal ?? new AbortController().signal);
}

async function answerOf(chat: ChatRequest): Promise<JsonObject & { choices: Choice[]; usage: JsonObject }> {
  return (await (await ask(chat)).json()) as JsonObject & { choices: Choice[]; usage: JsonObject };
}

async function eventsOf(chat: ChatRequest): Promise<string[]> {
  const response = await ask({ ...chat, stream: true });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  return new SseParser().push(await response.bytes()).map((event) => event.data);
}

async function chunksOf(chat: ChatRequest): Promise<(JsonObject & { choices: Choice[] })[]> {
  const events = await eventsOf(chat);
  expect(events.at(-1)).toBe('[DONE]');
  return events.slice(0, -1).map((text) => JSON.parse(text) as JsonObject & { choices: Choice[] });
}

/** Replaces the id, which must differ, and the time, which does differ between answers. */
function canned({ id, created, ...rest }: JsonObject): JsonObject {
  return { ...rest, id: typeof id, created: typeof created };
}

describe('the sandbox models', () => {
  test.each(SANDBOX_MODELS.map((entry) => [String(entry['id']), entry] as const))(
    '%s states that it is canned, and is priced unless it states that it is free',
    (_, entry) => {
      const model = modelSchema.parse(entry);
      expect(model.name).toContain('canned');
      expect(model.price.input === 0n && model.price.output === 0n).toBe(model.name.includes('free'));
    },
  );

  test('give every answer a unique id, as tools that collect answers need', async () => {
    const ids = await Promise.all([answerOf(ECHO), answerOf(ECHO)].map(async (answer) => (await answer)['id']));
    expect(new Set(ids).size).toBe(2);
  });

  test('hello says hello', async () => {
    expect((await answerOf({ ...ECHO, model: 'hello' })).choices[0]?.message).toMatchObject({ content: expect.stringContaining('Hello') });
  });

  test('echo repeats the last user message', async () => {
    const messages = [
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'Second' },
      { role: 'user', content: 'Third  one ☕' },
      { role: 'assistant', content: 'Fourth' },
    ];
    expect((await answerOf({ ...ECHO, messages })).choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'Third  one ☕',
      refusal: null,
    });
  });

  test.each<[string, unknown, string]>([
    [
      'several parts',
      [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: 'data:' } },
      ],
      'Look: [not text]',
    ],
    ['an empty text', '', '(empty)'],
    ['blanks', ' \n ', '(empty)'],
  ])('echo answers a message with %s', async (_, content, said) => {
    expect((await answerOf({ ...ECHO, messages: [{ role: 'user', content }] })).choices[0]?.message.content).toBe(said);
  });

  test('echo answers a long run of blanks at once: backtracking over it would block the whole server', async () => {
    const beganAtMs = cpuMs();
    const content = `One${' '.repeat(1_000_000)}two${' '.repeat(1_000_000)}`;
    const { choices } = await answerOf({ ...ECHO, messages: [{ role: 'user', content }] });
    expect(choices[0]?.message.content).toBe('One');
    expect(cpuMs() - beganAtMs).toBeLessThan(5000);
  });

  test('echo repeats no more than its longest answer: a long message for many choices would exhaust memory', async () => {
    const messages = [{ role: 'user', content: '☕'.repeat(5_000_000) }];
    const text = await (await ask({ ...ECHO, messages, n: 128 })).text();
    expect(text.length).toBeLessThan(4_000_000);
    const { choices } = JSON.parse(text) as { choices: Choice[] };
    expect(choices).toHaveLength(128);
    expect(choices[127]).toMatchObject({ finish_reason: 'length', message: { content: '☕'.repeat(16_384) } });
  });

  test('echo does not split a character', async () => {
    const { choices } = await answerOf({ ...ECHO, messages: [{ role: 'user', content: `a${'🫖'.repeat(10_000)}` }] });
    expect(choices[0]?.message.content.isWellFormed()).toBe(true);
  });

  test('echo answers a conversation without a user message', async () => {
    const { choices } = await answerOf({ ...ECHO, messages: [{ role: 'system', content: 'Be brief' }] });
    expect(choices[0]?.message.content).not.toBe('');
  });

  test('story states that it is canned', async () => {
    expect((await answerOf(STORY)).choices[0]?.message.content).toContain('canned');
  });
});

describe('a sandbox answer', () => {
  test.each([ECHO, { ...STORY, max_tokens: 12 }])('is the same every time, streamed or not: %j', async (chat) => {
    const whole = await answerOf(chat);
    expect(canned(await answerOf(chat))).toEqual(canned(whole));
    const chunks = await chunksOf(chat);
    expect((await chunksOf(chat)).map(canned)).toEqual(chunks.map(canned));
    expect(new Set(chunks.map((chunk) => chunk['id'])).size).toBe(1);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(String(whole.choices[0]?.message.content));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
  });

  test.each([
    [{ max_tokens: 3 }, 'One two three', 'length', 3],
    [{ max_completion_tokens: 1 }, 'One', 'length', 1],
    [{ max_tokens: 5 }, 'One two three four five', 'stop', 5],
    [{ max_tokens: 4096 }, 'One two three four five', 'stop', 5],
    [{}, 'One two three four five', 'stop', 5],
  ])('with %j ends at the limit', async (limit, said, finish, tokens) => {
    const { choices, usage } = await answerOf({ ...ECHO, ...limit });
    expect(choices[0]).toMatchObject({ message: { content: said }, finish_reason: finish });
    expect(usage['completion_tokens']).toBe(tokens);
    const chunks = await chunksOf({ ...ECHO, ...limit });
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason ?? undefined).filter((reason) => reason !== undefined)).toEqual([finish]);
  });

  test('obeys the limit the gateway sets', async () => {
    const reply = sandbox.decodeReply(await (await ask(ECHO, { outputTokensMax: 2 })).text(), {
      modelId: 'sandbox/echo',
      wantsUsage: false,
      chat: ECHO,
      requestId: 'req_1',
      createdSeconds: 1,
    });
    expect(reply).toMatchObject({ usage: { outputTokens: 2 }, outputText: 'One two' });
  });

  test.each<[string, JsonObject, string[]]>([
    ['a plain request', { n: 2, max_tokens: 9, max_completion_tokens: 9, stream: true, stream_options: { include_usage: true } }, []],
    [
      'fields that change the answer',
      {
        tools: [{ type: 'function', function: { name: 'look_up' } }],
        logprobs: true,
        top_logprobs: 2,
        seed: 7,
        stop: 'two',
        temperature: 0,
      },
      ['tools', 'logprobs', 'top_logprobs', 'seed', 'stop', 'temperature'],
    ],
    ['a schema', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } }, ['response_format']],
    ['an unknown field', { snow: null, constructor: 1 }, ['constructor']],
    ['defaults', { temperature: 1, logprobs: false, response_format: { type: 'text' }, modalities: ['text'], service_tier: 'auto' }, []],
    [
      'fields of messages',
      { messages: [{ role: 'user', name: 'Ada', content: [{ type: 'text', text: 'One', cache_control: { type: 'ephemeral' } }] }] },
      ['messages[].content[].cache_control', 'messages[].name'],
    ],
  ])('names the ignored fields of a request with %s', (_, fields, dropped) => {
    const target = { baseUrl: '', apiKey: undefined, model: 'echo', outputTokensMax: undefined };
    expect(sandbox.encodeRequest({ ...ECHO, ...fields }, target).dropped).toEqual(dropped);
  });

  test('has n choices, each of which is charged', async () => {
    const { choices, usage } = await answerOf({ ...ECHO, n: 3 });
    expect(choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(new Set(choices.map((choice) => choice.message.content))).toEqual(new Set(['One two three four five']));
    expect(usage['completion_tokens']).toBe(15);
    const chunks = await chunksOf({ ...ECHO, n: 2, max_tokens: 1 });
    const spoken = chunks.flatMap((chunk) => chunk.choices);
    expect(spoken.filter((choice) => choice.delta.role === 'assistant').map((choice) => choice.index)).toEqual([0, 1]);
    expect(spoken.filter((choice) => choice.finish_reason !== null).map((choice) => choice.index)).toEqual([0, 1]);
  });

  test('reports consistent usage', async () => {
    const { usage } = await answerOf(STORY);
    const read = readUsage(usage);
    if (read === undefined) throw new Error('not believed');
    expect(totalTokens(read)).toBe(usage['total_tokens'] as number);
    expect(read.inputTokens).toBeWithin(1, JSON.stringify(STORY.messages).length);
  });

  test('streams in the order of the dialect: role, words, finish, usage', async () => {
    const chunks = await chunksOf({ ...ECHO, max_tokens: 2 });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null } as Choice['delta'],
      { content: 'One' },
      { content: ' two' },
      {},
      undefined,
    ]);
    expect(new Set(chunks.map((chunk) => chunk['id'])).size).toBe(1);
  });

  test('stops when the caller disconnects', async () => {
    const abort = new AbortController();
    const response = await ask({ ...STORY, stream: true }, { signal: abort.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    abort.abort();
    const startedAt = performance.now();
    // One more piece may already be on its way.
    const rest = [await reader.read(), await reader.read()];
    expect(rest.at(-1)?.done).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

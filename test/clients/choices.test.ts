import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { ANSWER_TEXT } from '../simulator/behaviours.ts';
import { failureOf } from '../simulator/failure.ts';
import type { TestKey } from '../simulator/gate.ts';
import { costNanos } from '../simulator/invoice.ts';
import { expectUpstreamAborted } from '../simulator/upstream-aborted.ts';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';
import type { Usage } from '../simulator/wire.ts';
import { until } from '../until.ts';

const HI = [{ role: 'user' as const, content: 'Hi' }];
const EVERY = Object.values(MODELS);

let service: TranslatedGate;
let client: OpenAI;
let key: TestKey;

beforeAll(async () => {
  service = await startTranslatedGate({ timeouts: { idle_ms: 4000 } });
  key = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: key.secret, maxRetries: 0 });
}, 120_000);
afterEach(() => service.reset());
afterAll(async () => {
  const checks = (await service.gate.run('ledger', 'verify')) as { ok?: unknown };
  expect(checks).toMatchObject({ ok: true });
  await service.stop();
}, 120_000);

/** A request for four choices has four exchanges. */
const expectLeft = (leave: () => Promise<number>): Promise<void> => expectUpstreamAborted(service.openai, leave, 4);
const balance = (): Promise<bigint> => service.gate.settledBalance(key);

async function readChunks(model: string, n: number, more: object = {}): Promise<OpenAI.ChatCompletionChunk[]> {
  const options = { model, messages: HI, n, stream: true as const, stream_options: { include_usage: true }, ...more };
  return Array.fromAsync(await client.chat.completions.create(options));
}

describe('several choices from a provider that returns one', () => {
  test.each(EVERY)('form one answer, counted and charged once: %s', async (model) => {
    const one = await client.chat.completions.create({ model, messages: HI });
    const before = await balance();
    const three = await client.chat.completions.create({ model, messages: HI, n: 3 });
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const { message, finish_reason: finish } of three.choices) {
      expect(message).toEqual(one.choices[0]?.message as OpenAI.ChatCompletionMessage);
      expect(finish).toBe('stop');
    }
    for (const name of ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const)
      expect(three.usage?.[name]).toBe(3 * (one.usage?.[name] ?? 0));
    expect(three.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
    expect(before - (await balance())).toBe(costNanos({ ...(three.usage as Usage), prompt_tokens_details: NO_DETAILS }));
  });

  test.each(EVERY)('form one stream: %s', async (model) => {
    const [one, three] = [await readChunks(model, 1), await readChunks(model, 3)];
    expect(new Set(three.map(({ id, created, model: name }) => `${id} ${created} ${name}`)).size).toBe(1);
    const streamed = three.flatMap(({ choices }) => choices);
    for (const index of [0, 1, 2]) {
      const own = streamed.filter((choice) => choice.index === index);
      const alone = one.flatMap(({ choices }) => choices);
      expect(own).toEqual(alone.map((choice) => ({ ...choice, index })));
      expect(own.filter(({ delta }) => delta.role === 'assistant')).toHaveLength(1);
      expect(own.filter(({ finish_reason: finish }) => finish !== null)).toHaveLength(1);
    }
    const reports = three.filter(({ usage }) => usage !== null && usage !== undefined);
    expect(reports).toEqual(three.slice(-1));
    expect(reports[0]?.choices).toEqual([]);
    expect(reports[0]?.usage?.total_tokens).toBe(3 * (one.at(-1)?.usage?.total_tokens ?? 0));
  });

  test('are all assembled by .stream()', async () => {
    const stream = client.chat.completions.stream({ model: MODELS.gemini, messages: HI, n: 2 });
    const { choices } = await stream.finalChatCompletion();
    expect(choices).toHaveLength(2);
    expect(choices[1]?.message).toEqual(choices[0]?.message as NonNullable<(typeof choices)[0]>['message']);
  });

  test('ask the provider for one answer each, with different seeds', async () => {
    await client.chat.completions.create({ model: MODELS.single, messages: HI, n: 2, seed: 7 });
    expect(service.openai.requests.map(({ body }) => [body['n'], body['seed']])).toEqual([
      [undefined, 7],
      [undefined, 8],
    ]);
  });

  test('are left to a provider that supports them', async () => {
    await client.chat.completions.create({ model: 'mock/gpt', messages: HI, n: 3 });
    expect(service.openai.requests.map(({ body }) => body['n'])).toEqual([3]);
  });

  test('cost the long-prompt price only if each prompt is long', async () => {
    const content = 'word '.repeat(20);
    const before = await balance();
    const { usage } = await client.chat.completions.create({ model: 'mock/long', messages: [{ role: 'user', content }], n: 3 });
    expect(usage?.prompt_tokens).toBeGreaterThan(40);
    expect(before - (await balance())).toBe(costNanos({ ...(usage as Usage), prompt_tokens_details: NO_DETAILS }));
  });

  test.each([true, false])('run at most sixteen at a time (stream: %p)', async (stream) => {
    service.openai.always({ type: 'pace', gapMs: 5 });
    const request = stream ? readChunks(MODELS.single, 20) : client.chat.completions.create({ model: MODELS.single, messages: HI, n: 20 });
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, service.openai.openReplies)), 1);
    const answer = await request;
    clearInterval(timer);
    const choices = Array.isArray(answer) ? answer.flatMap((chunk) => chunk.choices) : answer.choices;
    expect(new Set(choices.map(({ index }) => index)).size).toBe(20);
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(16);
  });
});

const NO_DETAILS = { cached_tokens: 0, audio_tokens: 0, cache_write_tokens: 0 };
const OVERLOADED = { type: 'status' as const, status: 503, body: { error: { message: 'overloaded' } } };

describe('one of several choices that fails', () => {
  test.each([true, false])('before its first token fails the attempt and ends the others (stream: %p)', async (stream) => {
    const before = await balance();
    service.openai.always({ type: 'pace', gapMs: 50 });
    service.openai.next({ type: 'pace', gapMs: 50 });
    service.openai.next(OVERLOADED);
    const failure = await failureOf(client.chat.completions.create({ model: MODELS.single, messages: HI, n: 3, stream }));
    expect(failure).toMatchObject({ status: 500, code: 'provider_error' });
    await until(() => service.openai.openReplies === 0);
    expect(await balance()).toBe(before);
  });

  test('passes the request on to the next route', async () => {
    service.openai.next({ type: 'answer' });
    service.openai.next(OVERLOADED);
    const { choices } = await client.chat.completions.create({ model: 'mock/fallback', messages: HI, n: 3 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([0, 1, 2].map((index) => [index, ANSWER_TEXT]));
    // One of the first three, which was aborted, may arrive later.
    const others = service.openai.requests.filter(({ body }) => body['model'] === 'gpt-other');
    expect(others.map(({ body }) => body['n'])).toEqual([3]);
  });

  test('after its first token fails the stream, and nothing is charged', async () => {
    const before = await balance();
    service.openai.always({ type: 'pace', gapMs: 50 });
    service.openai.next({ type: 'error_event', chunks: 4 });
    const failure = await failureOf(readChunks(MODELS.single, 3));
    expect(failure).toMatchObject({ code: 'provider_error' });
    await until(() => service.openai.openReplies === 0);
    expect(await balance()).toBe(before);
  });

  test('by silence has its own deadline', async () => {
    service.openai.always({ type: 'pace', gapMs: 150 });
    service.openai.next({ type: 'hang', moment: { at: 'after_chunks', chunks: 3 } });
    expect(await failureOf(readChunks(MODELS.single, 3))).toMatchObject({ code: 'provider_timeout' });
  });
});

describe('a client that leaves', () => {
  test('ends all exchanges and pays for the delivered output', async () => {
    const before = await balance();
    service.openai.always({ type: 'pace', gapMs: 25 });
    await expectLeft(async () => {
      let leftAt = 0;
      let count = 0;
      for await (const _ of await client.chat.completions.create({ model: MODELS.single, messages: HI, n: 4, stream: true })) {
        count += 1;
        leftAt = performance.now();
        if (count === 20) break;
      }
      return leftAt;
    });
    // Our own token counter is loaded on first use, which takes a while.
    await until(async () => before - (await balance()) > 0n);
  });

  test('before a whole answer ends all exchanges and pays nothing', async () => {
    const before = await balance();
    service.openai.always({ type: 'hang', moment: { at: 'before_headers' } });
    await expectLeft(async () => {
      const seen = service.openai.requests.length;
      const abort = new AbortController();
      const outcome = failureOf(client.chat.completions.create({ model: MODELS.single, messages: HI, n: 4 }, { signal: abort.signal }));
      await service.openai.untilRequests(seen + 4);
      const leftAt = performance.now();
      abort.abort();
      await outcome;
      return leftAt;
    });
    expect(await balance()).toBe(before);
  });
});

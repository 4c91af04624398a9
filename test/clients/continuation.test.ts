import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { TestKey } from '../simulator/gate.ts';
import { costNanos } from '../simulator/invoice.ts';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';
import type { Usage } from '../simulator/wire.ts';

const HI = [{ role: 'user' as const, content: 'Hi' }];
const CLAUDE = 'mock/claude-adaptive';
const HOPS_MAX = 16;

let service: TranslatedGate;
let key: TestKey;

beforeAll(async () => {
  service = await startTranslatedGate();
  key = await service.gate.makeKey();
}, 120_000);
afterEach(() => service.reset());
afterAll(async () => {
  expect(await service.gate.run('ledger', 'verify')).toMatchObject({ ok: true });
  await service.stop();
}, 120_000);

function connect(payer: TestKey): OpenAI {
  return new OpenAI({ baseURL: service.gate.baseUrl, apiKey: payer.secret, maxRetries: 0 });
}

interface Received {
  readonly content: unknown;
  readonly finish: unknown;
  readonly usage: OpenAI.CompletionUsage | undefined;
}

/** Sends one request, whole or streamed. For a stream, also checks what all clients rely on. */
async function ask(model: string, stream: boolean, more: object = {}, payer = key): Promise<Received> {
  const client = connect(payer);
  if (!stream) {
    const { choices, usage } = await client.chat.completions.create({ model, messages: HI, ...more });
    return { content: choices[0]?.message.content, finish: choices[0]?.finish_reason, usage };
  }
  const options = { model, messages: HI, stream: true as const, stream_options: { include_usage: true }, ...more };
  const chunks = await Array.fromAsync(await client.chat.completions.create(options));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toEqual(choices.slice(0, 1));
  expect(choices.filter(({ finish_reason: finish }) => finish !== null)).toEqual(choices.slice(-1));
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    finish: choices.at(-1)?.finish_reason,
    usage: chunks.at(-1)?.usage ?? undefined,
  };
}

describe.each([false, true])('an answer that the provider interrupts is continued to its end (stream: %p)', (stream) => {
  test('at Gemini', async () => {
    service.gemini.always({ type: 'continuation', texts: ['One, two, ', 'three.'] });
    const before = await service.gate.settledBalance(key);
    const { content, finish, usage } = await ask(MODELS.gemini, stream);
    expect({ content, finish }).toEqual({ content: 'One, two, three.', finish: 'stop' });
    expect(service.gemini.requests).toHaveLength(2);
    expect(service.gemini.requests[1]?.body).toHaveProperty('continuationToken');
    expect(usage?.completion_tokens).toBe(5);
    const spent = before - (await service.gate.settledBalance(key));
    expect(spent).toBe(costNanos({ ...(usage as Usage), prompt_tokens_details: NO_DETAILS }));
  });

  test('at Claude, through two pauses', async () => {
    const search = { url: 'https://a.example', title: 'A' };
    service.anthropic.next({ type: 'answer', search, stopReason: 'pause_turn' });
    service.anthropic.next({ type: 'answer', search, stopReason: 'pause_turn' });
    service.anthropic.next({ type: 'answer', text: 'Sun and rain.' });
    const { content, finish, usage } = await ask(CLAUDE, stream);
    expect({ content, finish }).toEqual({ content: 'Sun and rain.', finish: 'stop' });
    expect(service.anthropic.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
    const reported = service.anthropic.requests.map((request) => request.usage as { output_tokens: number });
    expect(usage?.completion_tokens).toBe(reported.reduce((sum, { output_tokens: count }) => sum + count, 0));
  });

  test('for each of several choices', async () => {
    service.gemini.always({ type: 'continuation', texts: ['One, ', 'two.'] });
    const client = connect(key);
    const { choices } = stream
      ? await client.chat.completions.stream({ model: MODELS.gemini, messages: HI, n: 2 }).finalChatCompletion()
      : await client.chat.completions.create({ model: MODELS.gemini, messages: HI, n: 2 });
    expect(choices.map(({ message, finish_reason: finish }) => [message.content, finish])).toEqual([
      ['One, two.', 'stop'],
      ['One, two.', 'stop'],
    ]);
    expect(service.gemini.requests).toHaveLength(4);
  });

  test('but not beyond the limit of the client', async () => {
    service.gemini.always({ type: 'continuation', texts: ['One, two, ', 'three, four.'] });
    expect(await ask(MODELS.gemini, stream, { max_tokens: 4 })).toMatchObject({ content: 'One, two, ', finish: 'length' });
    expect(service.gemini.requests).toHaveLength(1);
    service.gemini.reset();
    service.gemini.always({ type: 'continuation', texts: ['One, two, ', 'three, four.'] });
    expect(await ask(MODELS.gemini, stream, { max_tokens: 5 })).toMatchObject({ content: 'One, two, three,', finish: 'length' });
  });

  test('with the full limit at Google, which subtracts earlier parts, and with the remaining limit at Anthropic', async () => {
    service.gemini.always({ type: 'continuation', texts: ['One, two, ', 'three, four.'] });
    expect(await ask(MODELS.gemini, stream, { max_tokens: 6 })).toMatchObject({ content: 'One, two, three, four.', finish: 'stop' });
    const limits = service.gemini.requests.map(({ body }) => (body as { generationConfig?: object }).generationConfig);
    expect(limits).toMatchObject([{ maxOutputTokens: 6 }, { maxOutputTokens: 6 }]);
    service.anthropic.next({ type: 'answer', search: { url: 'https://a.example', title: 'A' }, stopReason: 'pause_turn' });
    service.anthropic.next({ type: 'answer', text: 'Sun.' });
    const { usage } = await ask(CLAUDE, stream, { max_tokens: 5000 });
    const [first, second] = service.anthropic.requests.map(({ body }) => (body as { max_tokens: number }).max_tokens);
    expect(first).toBe(5000);
    expect(second).toBeWithin(5000 - Number(usage?.completion_tokens), 5000);
  });

  test('but not beyond the balance of the account', async () => {
    const poor = await service.gate.makeKey({ creditUsd: '0.001' });
    service.gemini.always({ type: 'continuation', texts: ['One, two, ', 'three.'] });
    const received = await ask(MODELS.gemini, stream, {}, poor);
    expect(received).toMatchObject({ content: 'One, two, ', finish: 'length' });
    expect(service.gemini.requests).toHaveLength(1);
  });

  test('but not forever', async () => {
    const search = { url: 'https://a.example', title: 'A' };
    service.anthropic.always({ type: 'answer', search, stopReason: 'pause_turn' });
    expect(await ask(CLAUDE, stream)).toMatchObject({ content: '', finish: 'length' });
    expect(service.anthropic.requests).toHaveLength(1 + HOPS_MAX);
  });

  test('but not when it stops at the same place again', async () => {
    service.anthropic.always({ type: 'answer', text: '', stopReason: 'pause_turn' });
    expect(await ask(CLAUDE, stream)).toMatchObject({ content: '', finish: 'length' });
    expect(service.anthropic.requests).toHaveLength(2);
  });

  test('and fails if its continuation fails', async () => {
    const before = await service.gate.settledBalance(key);
    service.anthropic.next({ type: 'answer', search: { url: 'https://a.example', title: 'A' }, stopReason: 'pause_turn' });
    service.anthropic.next({ type: 'status', status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } });
    const failure = await ask(CLAUDE, stream).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'provider_error' });
    expect(await service.gate.settledBalance(key)).toBe(before);
  });
});

const NO_DETAILS = { cached_tokens: 0, audio_tokens: 0, cache_write_tokens: 0 };

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { describeModel } from '../simulator/gate.ts';
import { type Caller, startCaller, STREAM } from './caller.ts';

/** Providers that report a first count at the start of a stream and the rest at its end, which never comes. */

const TEXT = 'One two three four five six seven eight nine ten. '.repeat(20);
const PROMPT_TOKENS = 10;
const PROMPT_NANOS = 10_000n;
/** Twenty times ten words and a full stop, at one micro-dollar per token. */
const OUTPUT_NANOS_MIN = 200_000n;

const FIRST_EVENTS: Readonly<Record<string, readonly object[]>> = {
  chat: [
    {
      id: 'x',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' } }],
      usage: { prompt_tokens: PROMPT_TOKENS, completion_tokens: 0 },
    },
    { id: 'x', choices: [{ index: 0, delta: { content: TEXT } }] },
  ],
  gemini: [
    { candidates: [{ index: 0, content: { parts: [{ text: 'Zero. ' }] } }], usageMetadata: { promptTokenCount: PROMPT_TOKENS } },
    { candidates: [{ index: 0, content: { parts: [{ text: TEXT }] } }] },
  ],
};

/** Ends the answer, but not with the final count. */
const ENDS: Readonly<Record<string, object>> = {
  chat: { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  gemini: { candidates: [{ index: 0, content: { parts: [] }, finishReason: 'STOP' }] },
};

let caller: Caller;
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const name = request.url.includes('GenerateContent') ? 'gemini' : 'chat';
    const hasEnd = (await request.text()).includes('to the end');
    const events = [...(FIRST_EVENTS[name] ?? []), ...(hasEnd ? [ENDS[name]] : [])];
    const body = new ReadableStream({
      start: (controller) => {
        for (const event of events) controller.enqueue(`data: ${JSON.stringify(event)}\n\n`);
        if (hasEnd) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});

beforeAll(async () => {
  const address = `http://127.0.0.1:${provider.port}/v1`;
  const price = { input: 1, output: 1 };
  caller = await startCaller({
    providers: {
      early: { dialect: 'openai', base_url: address, api_key: 'k' },
      google: { dialect: 'gemini', base_url: address, api_key: 'k' },
    },
    models: [describeModel('mock/chat', 'early', price), describeModel('mock/gemini', 'google', price)],
  });
}, 120_000);
afterAll(async () => {
  await caller.stop();
  await provider.stop(true);
}, 120_000);

describe('a caller who leaves before the final count', () => {
  test.each(['chat', 'gemini'])('still pays for what was delivered: %s', async (name) => {
    const abort = new AbortController();
    const response = await fetch(`${caller.gate.baseUrl}/chat/completions`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${caller.key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: `mock/${name}`, messages: [{ role: 'user', content: 'Count' }], stream: true }),
    });
    let received = '';
    for await (const bytes of response.body ?? []) {
      received += new TextDecoder().decode(bytes);
      if (received.includes('ten.')) break;
    }
    abort.abort();
    expectCharge(await caller.chargedNanos());
  });
});

describe('an answer that ends before the final count', () => {
  test.each(['chat', 'gemini'])('is still paid for: %s', async (name) => {
    const messages = [{ role: 'user', content: 'Count to the end' }];
    const { text, chargedNanos } = await caller.ask({ type: 'answer' }, { ...STREAM, model: `mock/${name}`, messages });
    expect(text).toEndWith('data: [DONE]\n\n');
    expectCharge(chargedNanos);
  });
});

function expectCharge(charged: bigint): void {
  expect(charged).toBeGreaterThan(OUTPUT_NANOS_MIN);
  expect(charged).toBeLessThan(2n * OUTPUT_NANOS_MIN + PROMPT_NANOS);
}

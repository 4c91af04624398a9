import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { ANSWER_TEXT, type Behaviour } from '../simulator/behaviours.ts';
import { costNanos, withCost } from '../simulator/invoice.ts';
import type { JsonObject, Usage } from '../simulator/wire.ts';
import { countUsage } from '../simulator/wire.ts';
import { type Caller, CHAT, readContent, readEvents, startCaller, STREAM } from './caller.ts';
import { until } from '../until.ts';

/** A generous limit for a request of this size, far below the cost of any absurd count. */
const ESTIMATE_NANOS_MAX = costNanos(countUsage({ prompt: 400, cached: 0, completion: 400 }));

const OUTPUT_TOKENS_MAX = 16_384;

let caller: Caller;

beforeAll(async () => {
  caller = await startCaller({});
}, 120_000);
afterEach(() => caller.simulator.reset());
afterAll(() => caller.stop(), 120_000);

describe('a healthy provider is relayed and charged as reported', () => {
  test.each<[string, Behaviour]>([
    ['a plain answer', { type: 'answer' }],
    ['cached tokens at their own price', { type: 'answer', cachedTokens: 3 }],
    ['lines that end with CRLF', { type: 'framing', style: 'crlf' }],
    ['comments between events', { type: 'framing', style: 'comments' }],
    ['all events in one write', { type: 'framing', style: 'one_write' }],
    ['writes cut at random bytes', { type: 'random_cuts', seed: 1 }],
    ['writes cut at other random bytes', { type: 'random_cuts', seed: 2 }],
    ['a stream without [DONE]', { type: 'no_done' }],
    ['a slow pace', { type: 'pace', gapMs: 20 }],
    ['usage on the finish chunk', { type: 'usage', value: 'on_finish_chunk' }],
    ['usage on every chunk', { type: 'usage', value: 'on_every_chunk' }],
  ])('%s', async (_, behaviour) => {
    const { json, streamed, chargedNanos } = await caller.askBoth(behaviour);
    const usage = caller.simulator.requests[0]?.usage as Usage;
    expect([json.status, streamed.status]).toEqual([200, 200]);
    const body = JSON.parse(json.text) as { choices: { message: { content: string } }[]; usage: Usage };
    expect(body.choices[0]?.message.content).toBe(ANSWER_TEXT);
    expect(body.usage).toEqual(withCost(usage));

    const events = readEvents(streamed.text);
    expect(readContent(events)).toBe(ANSWER_TEXT);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: withCost(usage) });
    expect(streamed.text).toEndWith('data: [DONE]\n\n');
    expect(chargedNanos).toBe(2n * costNanos(usage));
  });

  test('tool calls and several choices', async () => {
    const tools = [
      { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
    ];
    for (const body of [{ tools }, { n: 3 }]) {
      const { json, chargedNanos } = await caller.askBoth({ type: 'answer' }, body);
      const { usage } = JSON.parse(json.text) as { usage: Usage };
      expect(chargedNanos).toBe(2n * costNanos(usage));
    }
  });

  test('a slow tool call that stays within the output limit', async () => {
    const city = { type: 'string' };
    const parameters = { type: 'object', properties: { from: city, by_way_of: city, to: city, and_back_to: city } };
    const tools = [{ type: 'function', function: { name: 'journey', parameters } }];
    const limits = { tools, max_completion_tokens: 20 };
    const { text, chargedNanos } = await caller.ask({ type: 'pace', gapMs: 200 }, { ...STREAM, ...limits });
    const events = readEvents(text);
    expect(events.at(-2)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
    const { usage } = caller.simulator.requests[0] as { usage: Usage };
    expect(usage.completion_tokens).toBeWithin(10, 20);
    expect(chargedNanos).toBe(costNanos(usage));
  });

  test('cache-write tokens at their own price', async () => {
    const written = countUsage({ prompt: 1000, cached: 200, completion: 7 });
    const usage = { ...written, prompt_tokens_details: { ...written.prompt_tokens_details, cache_write_tokens: 300 } };
    const { chargedNanos } = await caller.askBoth({ type: 'answer', usage });
    expect(chargedNanos).toBe(2n * costNanos(usage));
  });

  test('a huge answer arrives complete', async () => {
    const { json, streamed, chargedNanos } = await caller.askBoth({ type: 'huge', bytes: 4_000_000 });
    expect(json.text.length).toBeGreaterThan(4_000_000);
    expect(readContent(readEvents(streamed.text)).length).toBeGreaterThanOrEqual(4_000_000);
    expect(chargedNanos).toBe(2n * costNanos(caller.simulator.requests[0]?.usage as Usage));
  });

  test('usage with three bare counts is enough', async () => {
    const { chargedNanos } = await caller.askBoth({ type: 'usage', value: 'bare' });
    expect(chargedNanos).toBe(2n * costNanos(countUsage({ prompt: 12, cached: 0, completion: 5 })));
  });

  test('a free model costs nothing', async () => {
    const { json, chargedNanos } = await caller.askBoth({ type: 'answer' }, { model: 'mock/free' });
    expect(json.status).toBe(200);
    expect(chargedNanos).toBe(0n);
  });

  test('a free stream longer than expected is not cut off for lack of money', async () => {
    const { gate, simulator } = caller;
    const { secret } = await gate.makeKey({ creditUsd: '0' });
    // So long that the provider must have passed the output limit, and slow enough for the gate to notice.
    const words = 60;
    simulator.always({ type: 'answer', text: ` ${'a'.repeat(4095)}`.repeat(words), gapMs: 100 });
    const response = await fetch(`${gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, ...STREAM, model: 'mock/free' }),
    });
    const events = readEvents(await response.text());
    expect(readContent(events).length).toBe(words * 4096);
    expect(events.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  }, 120_000);
});

describe('implausible usage', () => {
  test('of zero is a valid value and costs nothing', async () => {
    const { json, streamed, chargedNanos } = await caller.askBoth({ type: 'usage', value: 'zero' });
    expect([json.status, streamed.status]).toEqual([200, 200]);
    expect(chargedNanos).toBe(0n);
  });

  test.each(['missing', 'negative', 'enormous', 'text'] as const)('(%s) is replaced by a bounded estimate', async (value) => {
    const json = await caller.ask({ type: 'usage', value });
    const streamed = await caller.ask({ type: 'usage', value }, STREAM);
    const events = readEvents(streamed.text);
    expect([json.status, streamed.status]).toEqual([200, 200]);
    expect(readContent(events)).toBe(ANSWER_TEXT);
    expectUsableUsage((JSON.parse(json.text) as { usage: Usage }).usage);
    expectUsableUsage(events.at(-1)?.['usage'] as Usage);
    expectEstimate(json.chargedNanos);
    expectEstimate(streamed.chargedNanos);
  });

  test.each([
    ['a prompt longer than the context', { prompt: 900_000, completion: 5 }],
    ['an answer longer than the limit', { prompt: 12, completion: 900_000 }],
  ])('(%s) reaches the caller in no part', async (_, counts) => {
    const counted = countUsage({ ...counts, cached: 8 });
    const usage = { ...counted, completion_tokens_details: { ...counted.completion_tokens_details, reasoning_tokens: 4 } };
    const { json, streamed } = await caller.askBoth({ type: 'answer', usage });
    for (const reported of [(JSON.parse(json.text) as JsonObject)['usage'], readEvents(streamed.text).at(-1)?.['usage']])
      expect(Object.keys(reported as JsonObject)).toEqual(['prompt_tokens', 'completion_tokens', 'total_tokens', 'cost']);
  });
});

describe('an estimate', () => {
  test('is also made for requests with very long numbers, and nothing stays held', async () => {
    const maximum = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9223372036854775807');
    const tools = [{ type: 'function', function: { name: 'clock', parameters: { type: 'object', maximum } } }];
    for (const body of [{ tools }, { ...STREAM, tools }]) {
      const { status, chargedNanos } = await caller.ask({ type: 'usage', value: 'missing' }, body);
      expect(status).toBe(200);
      expectEstimate(chargedNanos);
    }
  });

  test('never exceeds the longest answer the model may give', async () => {
    const text = ` ${'a'.repeat(4095)}`.repeat(250);
    const longest = costNanos(countUsage({ prompt: 400, cached: 0, completion: OUTPUT_TOKENS_MAX }));
    for (const body of [{}, STREAM]) {
      const { status, chargedNanos } = await caller.ask({ type: 'answer', text, usage: null }, body);
      expect(status).toBe(200);
      expect(chargedNanos).toBeGreaterThan(0n);
      expect(chargedNanos).toBeLessThanOrEqual(longest);
    }
  });

  test('never exceeds the output limit the caller set', async () => {
    const text = ` ${'a'.repeat(400)}`.repeat(20);
    const longest = costNanos(countUsage({ prompt: 400, cached: 0, completion: 20 }));
    const { json, chargedNanos } = await caller.askBoth({ type: 'answer', text, usage: null }, { max_completion_tokens: 20 });
    expect(json.status).toBe(200);
    expect(chargedNanos).toBeGreaterThan(0n);
    expect(chargedNanos).toBeLessThanOrEqual(2n * longest);
  });
});

describe('a caller who leaves', () => {
  test('before the first token pays nothing', async () => {
    expect(await leaveAfter({ type: 'hang', moment: { at: 'before_headers' } }, 0)).toBe(0n);
    caller.simulator.reset();
    expect(await leaveAfter({ type: 'hang', moment: { at: 'after_headers' } }, 0)).toBe(0n);
  });

  test('halfway pays for the prompt and what was delivered', async () => {
    const few = await leaveAfter({ type: 'hang', moment: { at: 'after_chunks', chunks: 3 } }, 3);
    caller.simulator.reset();
    const many = await leaveAfter({ type: 'hang', moment: { at: 'after_chunks', chunks: 12 } }, 12);
    expectEstimate(few);
    expectEstimate(many);
    expect(many).toBeGreaterThan(few);
  });
});

function expectUsableUsage(usage: Usage): void {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  for (const count of [prompt, completion, total]) expect(count).toBeWithin(0, 2 ** 31);
  expect(total).toBe(prompt + completion);
}

function expectEstimate(chargedNanos: bigint): void {
  expect(chargedNanos).toBeGreaterThan(0n);
  expect(chargedNanos).toBeLessThanOrEqual(ESTIMATE_NANOS_MAX);
}

/** Leaves a stream once the provider has written this many chunks, and returns what it cost. */
async function leaveAfter(behaviour: Behaviour, chunks: number): Promise<bigint> {
  const { simulator, gate, key } = caller;
  simulator.always(behaviour);
  const abort = new AbortController();
  const call = fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    signal: abort.signal,
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CHAT, ...STREAM }),
  });
  // An aborted call is expected to fail.
  const left = call.then((response) => response.text()).catch(() => undefined);
  await simulator.untilRequests(1);
  await until(() => (simulator.requests[0]?.chunksSent ?? 0) >= chunks);
  await Bun.sleep(30);
  abort.abort();
  await left;
  // How soon this must happen is covered by the test with many disconnects.
  await until(() => simulator.openReplies === 0);
  return caller.chargedNanos();
}

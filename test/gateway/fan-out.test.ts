import { describe, expect, test } from 'bun:test';
import type { Leg } from '../../src/gateway/ask.ts';
import { ChoiceStream } from '../../src/gateway/choice-stream.ts';
import { Deadlines } from '../../src/gateway/deadlines.ts';
import { fanOut as askForChoices } from '../../src/gateway/fan-out.ts';
import { Call } from '../../src/gateway/call.ts';
import type { Gate } from '../../src/gateway/gate.ts';
import { Relay } from '../../src/gateway/relay.ts';
import type { Answer } from '../../src/gateway/answer.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import { CONCURRENT_MAX, Strands } from '../../src/gateway/strands.ts';
import { Exchange } from '../../src/http/exchange.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { SseParser } from '../../src/http/sse.ts';
import { parseExact } from '../../src/openai/parse-exact.ts';
import type { ChatRequest } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';
import { failureOf } from '../simulator/failure.ts';

const WHOLE: Answer = {
  type: 'whole',
  provider: 'mock',
  servedModel: 'gpt-x',
  dropped: [],
  prompts: 1,
  reply: { body: { choices: [{}] }, usage: undefined, outputText: '', carried: new Map() },
};
const NO_CREDENTIALS = { apiKey: undefined, aws: undefined, serviceAccount: undefined };
const TIMEOUTS = { connectMs: 1000, firstByteMs: 5000, answerMs: 5000, idleMs: 5000, totalMs: 10_000, keepAliveMs: 1000 };

/** The provider's side of one choice, controlled by the test. */
class Provided {
  readonly exchange = new Exchange();
  isPaused = false;
  isCancelled = false;

  constructor() {
    // Neither the head nor its failure matters here.
    this.exchange.head.catch(() => undefined);
    this.exchange.attach({
      pause: () => void (this.isPaused = true),
      resume: () => void (this.isPaused = false),
      cancel: () => void (this.isCancelled = true),
    });
  }

  say(content: string, finish: string | null = null): void {
    const choices = [{ index: 0, delta: { content }, finish_reason: finish }];
    this.#send(JSON.stringify({ id: 'theirs', created: 1, choices }));
  }

  end(tokens: number): void {
    this.say('', 'stop');
    this.#send(JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens } }));
    this.#send('[DONE]');
    this.exchange.onEnd();
  }

  #send(data: string): void {
    this.exchange.onBody(Buffer.from(`data: ${data}\n\n`));
  }
}

/** Returns a fan-out whose providers the test controls, and the texts that the client received. */
function fanOut(count: number) {
  const provided: Provided[] = [];
  const strands = new Strands(count, async (strand) => {
    const provider = new Provided();
    provided.push(provider);
    const deadlines = new Deadlines(TIMEOUTS, { what: 'did not begin', ms: 5000 });
    strand.watch(provider.exchange, deadlines);
    const chat = { model: 'mock/gpt', messages: [] };
    const context = { modelId: 'mock/gpt', wantsUsage: false, chat, requestId: 'req_1', createdSeconds: 7, choiceIndex: strand.index };
    const relay = new Relay(
      provider.exchange,
      { parser: new SseParser(), decoder: openai.decodeStream(context), choices: 1, hold: () => undefined },
      deadlines,
    );
    await relay.open(1000);
    return {
      type: 'stream',
      provider: 'mock',
      servedModel: 'gpt-x',
      dropped: [],
      source: relay,
      wantsUsage: false,
      credentials: NO_CREDENTIALS,
    };
  });
  const stream = new ChoiceStream(strands);
  const received: string[] = [];
  const ends: unknown[] = [];
  const start = (onText: (text: string) => void = () => undefined): void => {
    const receive = (text: string): void => {
      received.push(...[...text.matchAll(/"index":(\d+),"delta":\{"content":"(\w+)"/gu)].map((match) => `${match[1]}${match[2]}`));
      onText(text);
    };
    stream.start({
      onText: receive,
      onTokens: (out) => receive(out.read()),
      onComplete: () => ends.push('complete'),
      onFailure: (failure) => ends.push(failure),
    });
  };
  return { stream, strands, provided, received, ends, start };
}

async function opened(count: number) {
  const fan = fanOut(count);
  const open = fan.stream.open();
  for (const provider of fan.provided) provider.say('a');
  await open;
  return fan;
}

describe('the streams of several choices', () => {
  test('are forwarded as they arrive, and end with the last of them', async () => {
    const { start, received, ends, provided, stream } = await opened(3);
    start();
    provided[2]?.say('b');
    provided[0]?.say('c');
    expect(received).toEqual(['0a', '1a', '2a', '2b', '0c']);
    for (const provider of [2, 0, 1]) {
      expect(ends).toEqual([]);
      provided[provider]?.end(5);
    }
    expect(ends).toEqual(['complete']);
    expect(stream.tally()).toMatchObject({ usage: { inputTokens: 30, outputTokens: 15 }, outputText: 'acaab', prompts: 3 });
    expect(stream.tally().wireUsage).toEqual({ prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 });
  });

  test('pause together for a slow client', async () => {
    const { start, provided, stream } = await opened(3);
    start();
    stream.pause();
    expect(provided.map(({ isPaused }) => isPaused)).toEqual([true, true, true]);
    stream.resume();
    expect(provided.map(({ isPaused }) => isPaused)).toEqual([false, false, false]);
  });

  test('do not start while the client reads nothing', async () => {
    const { start, received, stream } = await opened(3);
    let isFirst = true;
    start(() => {
      if (isFirst) stream.pause();
      isFirst = false;
    });
    expect(received).toEqual(['0a']);
    stream.resume();
    expect(received).toEqual(['0a', '1a', '2a']);
  });

  test('start one after the other beyond the concurrency limit', async () => {
    const { start, received, ends, provided } = await opened(CONCURRENT_MAX + 2);
    start();
    expect(provided).toHaveLength(CONCURRENT_MAX);
    provided[3]?.end(1);
    expect(provided).toHaveLength(CONCURRENT_MAX + 1);
    provided[CONCURRENT_MAX]?.say('late');
    await Bun.sleep(0);
    expect(received.at(-1)).toBe(`${CONCURRENT_MAX}late`);
    provided.filter((_, index) => index !== 3).forEach((provider) => provider.end(1));
    provided[CONCURRENT_MAX + 1]?.say('last');
    await Bun.sleep(0);
    expect(ends).toEqual([]);
    provided[CONCURRENT_MAX + 1]?.end(1);
    expect(ends).toEqual(['complete']);
  });

  test('fail with the first failure, once, and the others are ended', async () => {
    const { start, ends, provided } = await opened(3);
    start();
    const failure = new Error('broken');
    provided[1]?.exchange.onFailure(failure);
    expect(ends).toEqual([failure]);
    expect(provided.map(({ isCancelled }) => isCancelled)).toEqual([true, false, true]);
  });

  test('fail to open when one of them fails to start', async () => {
    const { stream, provided, strands } = fanOut(3);
    const open = stream.open();
    provided[0]?.say('a');
    provided[1]?.exchange.onFailure(new Error('broken'));
    expect(await failureOf(open)).toMatchObject({ message: 'broken' });
    strands.abort(new Error('over'));
    expect(provided.map(({ isCancelled }) => isCancelled)).toEqual([true, false, true]);
    expect(strands.askNext()).toBeUndefined();
  });

  test('are cut off where they are still open', async () => {
    const { start, provided, stream } = await opened(3);
    start();
    provided[1]?.end(1);
    const cut = stream.cut().map((text) => JSON.parse(text));
    expect(cut.map(({ choices }) => [choices[0].index, choices[0].finish_reason])).toEqual([
      [0, 'length'],
      [2, 'length'],
    ]);
    expect(new Set(cut.map(({ id, created }) => `${id} ${created}`))).toEqual(new Set(['chatcmpl-req_1 7']));
  });
});

describe('a body that is sent once per choice', () => {
  const BODY_BYTES = 200_000;
  const request = new Request('http://gate');
  const call = new Call('req_1', 0, request, { address: () => '' });
  const held = new HeldBytes();
  const gate = { config: { timeouts: TIMEOUTS }, held } as unknown as Gate;
  const leg = {} as Leg;
  const choose = (n: number, ask: () => Promise<Answer>) => {
    held.add(BODY_BYTES - call.heldBytes);
    call.heldBytes = BODY_BYTES;
    return askForChoices(gate, { call, chat: { model: 'mock/gpt', messages: [], n } } as unknown as Dispatch, { leg, ask });
  };

  test('takes room for each copy that exists at once', async () => {
    for (const [n, times] of [
      [3, 3],
      [100, CONCURRENT_MAX],
    ] as const) {
      await choose(n, async () => WHOLE);
      expect(call.heldBytes).toBe(times * BODY_BYTES);
    }
  });

  test('gives the room back when all choices fail, because another route may follow', async () => {
    expect(await failureOf(choose(3, () => Promise.reject(new Error('overloaded'))))).toMatchObject({ message: 'overloaded' });
    expect(call.heldBytes).toBe(BODY_BYTES);
  });

  test('is refused before any provider is asked when there is no room', async () => {
    held.add(held.max - held.total - BODY_BYTES);
    let asked = 0;
    const ask = async (): Promise<Answer> => {
      asked += 1;
      return WHOLE;
    };
    expect(await failureOf(choose(3, ask))).toMatchObject({ errorName: 'too_busy' });
    expect([asked, call.heldBytes]).toEqual([0, BODY_BYTES]);
    await choose(2, ask);
  });
});

describe('the seeds of several choices', () => {
  const call = new Call('req_1', 0, new Request('http://gate'), { address: () => '' });
  const gate = { config: { timeouts: TIMEOUTS }, held: new HeldBytes() } as unknown as Gate;

  test.each([
    ['7', ['7', '8', '9']],
    ['-1', ['-1', '0', '1']],
    ['9007199254740990', ['9007199254740990', '9007199254740991', '9007199254740992']],
    ['1234567890123456789', ['1234567890123456789', '1234567890123456790', '1234567890123456791']],
    ['9223372036854775806', ['9223372036854775806', '9223372036854775807', '-9223372036854775808']],
  ])('differ, from %s on', async (seed, expected) => {
    const chat = parseExact(`{"model":"mock/gpt","messages":[],"n":3,"seed":${seed}}`) as ChatRequest;
    const seeds: string[] = [];
    const ask = async (_: Gate, dispatch: Dispatch): Promise<Answer> => {
      seeds.push(JSON.stringify(dispatch.chat['seed']));
      return WHOLE;
    };
    await askForChoices(gate, { call, chat } as unknown as Dispatch, { leg: {} as Leg, ask });
    expect(seeds).toEqual(expected);
  });
});

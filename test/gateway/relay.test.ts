import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Deadlines } from '../../src/gateway/deadlines.ts';
import { Relay } from '../../src/gateway/relay.ts';
import { Exchange } from '../../src/http/exchange.ts';
import type { Outbox } from '../../src/http/outbox.ts';
import { EVENT_CHARACTERS_MAX, SseParser } from '../../src/http/sse.ts';
import { openai } from '../../src/providers/openai.ts';
import { ProviderFault } from '../../src/providers/dialect.ts';
import { GatewayError } from '../../src/errors.ts';
import { CLIENT_GONE } from '../../src/gateway/call.ts';

const TIMEOUTS = { connectMs: 1000, firstByteMs: 5000, answerMs: 5000, idleMs: 5000, totalMs: 10_000, keepAliveMs: 1000 };
const PHASE = { what: 'did not begin', ms: 5000 };

const chunk = (choices: unknown[], more: object = {}): string =>
  JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices, ...more });
const delta = (content: string, index = 0): string =>
  chunk([{ index, delta: { role: 'assistant', content }, logprobs: null, finish_reason: null }], { usage: null });
const more = (content: string): string => chunk([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }], { usage: null });
const finish = (index = 0): string => chunk([{ index, delta: {}, logprobs: null, finish_reason: 'stop' }], { usage: null });
const usage = chunk([], { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } });

const tokens = ['First', ' the', ' gate', ' öffnet', ' 世界', '', ' "quoted"', ' and', ' on'].map((text) => more(text));
const events = [delta('Grüße, 世界 👋🏽'), more('line\u2028break "data: [DONE]"'), ...tokens, delta('ok', 1), finish(1), finish(), usage];
const whole = await relayed([bytesOf(events)], true);

describe('the relay', () => {
  test('forwards each chunk with our model id and a null usage, and keeps the usage to itself', () => {
    expect(whole.chunks.map((text) => JSON.parse(text))).toEqual(
      events.slice(0, -1).map((text) => ({ ...JSON.parse(text), model: 'mock/gpt', usage: null })),
    );
    expect(whole.usage).toEqual({ inputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 4, reasoningTokens: 0 });
  });

  test('omits the usage key when the client did not ask for it', async () => {
    const { chunks } = await relayed([bytesOf(events)], false);
    expect(chunks.every((text) => !('usage' in JSON.parse(text)))).toBe(true);
  });

  test('produces the same events however the bytes are split', async () => {
    const bytes = bytesOf(events);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        expect(await relayed(slice(bytes, at), true)).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  test('produces the same events one byte at a time', async () => {
    const bytes = bytesOf(events);
    expect(
      await relayed(
        slice(
          bytes,
          Array.from({ length: bytes.length - 1 }, (_, index) => index + 1),
        ),
        true,
      ),
    ).toEqual(whole);
  });

  test('produces the same tokens at once or byte by byte, valid text or not', async () => {
    const token = fc.uint8Array({ maxLength: 12 }).map((bytes) => bytes.filter((byte) => byte >= 32 && byte !== 34 && byte !== 92));
    await fc.assert(
      fc.asyncProperty(fc.array(token, { maxLength: 6 }), async (texts) => {
        const [before = '', after = ''] = `data: ${more('HOLE')}\n\n`.split('HOLE');
        const holes = texts.flatMap((text) => [Buffer.from(before), text, Buffer.from(after)]);
        const bytes = Buffer.concat([bytesOf([delta('a'), more('First')], ''), ...holes, bytesOf([finish()])]);
        const pieces = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
        expect(await relayed([bytes], false)).toEqual(await relayed(slice(bytes, pieces), false));
      }),
      { numRuns: 100 },
    );
  });

  test('accepts CRLF, comments, missing spaces, and a missing last blank line', async () => {
    const text = `: hello\r\n\r\n${events.map((data) => `data:${data}\r\n\r\n: ping\r\n\r\n`).join('')}data: [DONE]`;
    expect(await relayed([new TextEncoder().encode(text)], true)).toEqual(whole);
  });

  test('does not need [DONE] when every choice has finished', async () => {
    const text = events.map((data) => `data: ${data}\n\n`).join('');
    expect(await relayed([new TextEncoder().encode(text)], true)).toEqual(whole);
  });

  test.each([
    ['ends before a choice has finished', `data: ${delta('a')}\n\n`, 1],
    ['finishes one choice of two', `data: ${delta('a')}\n\ndata: ${delta('b', 1)}\n\ndata: ${finish()}\n\n`, 3],
    ['sends an error event', `data: ${delta('a')}\n\ndata: {"error":{"message":"overloaded"}}\n\n`, 1],
    ['sends an event named error', `data: ${delta('a')}\n\nevent: error\ndata: {"message":"overloaded"}\n\n`, 1],
    ['sends garbage', `data: ${delta('a')}\n\ndata: <html>\n\n`, 1],
  ])('delivers everything before the fault of a stream that %s, then fails', async (_, text, delivered) => {
    const relay = begin([new TextEncoder().encode(text)], false);
    await relay.open(1000);
    const got: string[] = [];
    await expect(collect(relay, got)).rejects.toBeInstanceOf(ProviderFault);
    expect(got).toHaveLength(delivered);
  });

  test.each([
    ['is empty', ''],
    ['has only comments', ': processing\n\n'],
    ['only says that it is done', 'data: [DONE]\n\n'],
    ['begins with an error', 'data: {"error":{"message":"overloaded","code":529}}\n\n'],
  ])('fails before the first chunk when the stream %s', async (_, text) => {
    await expect(begin([new TextEncoder().encode(text)], false).open(1000)).rejects.toBeInstanceOf(ProviderFault);
  });

  test('adds a finish reason that the provider omitted', async () => {
    const { chunks } = await relayed([new TextEncoder().encode(`data: ${delta('a')}\n\ndata: [DONE]\n\n`)], false);
    expect(chunks.map((text) => JSON.parse(text).choices[0].finish_reason)).toEqual([null, 'stop']);
  });

  test.each([
    ['and a marker at the end', 'data: [DONE]\n\n'],
    ['and nothing else', ''],
  ])('sends the finish reason last when the provider sends one with every chunk, %s', async (_, end) => {
    const all = ['Open', ' the', ' gate'].map((content) => chunk([{ index: 0, delta: { content }, finish_reason: 'stop' }]));
    const said = [['Open'], [' the'], [' gate'], [undefined, 'stop']].map(([content, reason = null]) => [content, reason]);
    for (const packets of [[bytesOf(all, end)], all.map((text, index) => bytesOf([text], index === 2 ? end : ''))]) {
      const { chunks } = await relayed(packets, false);
      expect(chunks.map((text) => JSON.parse(text).choices[0]).map((choice) => [choice.delta.content, choice.finish_reason])).toEqual(said);
    }
  });

  test.each(['reasoning', 'content', 'function_call', 'audio'])(
    'keeps %s in order when the provider sends a finish reason with every chunk',
    async (field) => {
      const said = ['a', 'b', 'c'].map((text) => ({ [field]: /call|audio/.test(field) ? { transcript: text, arguments: text } : text }));
      const { chunks } = await relayed([bytesOf(said.map((one) => chunk([{ index: 0, delta: one, finish_reason: 'stop' }])))], false);
      expect(chunks.join()).toMatch(/"a".*"b".*"c"/u);
    },
  );

  test('sends the finish reason that came with the last text when the connection then breaks or the answer is cut', async () => {
    const last = chunk([{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }]);
    const broken = await follow([last], 1);
    expect(broken.got).toHaveLength(1);
    broken.exchange.onFailure(new Error('reset'));
    await broken.collected;
    expect(broken.got[1]).toContain('"finish_reason":"stop"');
    const exchange = new Exchange();
    const relay = beginWith(exchange, false);
    const opened = relay.open(1000);
    exchange.onBody(Buffer.from(bytesOf([last], '')));
    await opened;
    expect(relay.cut()).toEqual([expect.stringContaining('"finish_reason":"stop"')]);
  });

  test('waits for the first token, but only for a while once the provider has started', async () => {
    const role = chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
    const exchange = new Exchange();
    const relay = beginWith(exchange, false);
    const opened = relay.open(20);
    exchange.onBody(Buffer.from(`data: ${role}\n\n`));
    await opened;
    const got: string[] = [];
    void collect(relay, got);
    expect(got).toEqual([expect.stringContaining('"role":"assistant"')]);
  });

  test.each([
    ['comments', ': processing\n\n'],
    ['chunks without choices', `data: ${chunk([])}\n\n`],
  ])('does not wait forever for the first token of a provider that sends only %s', async (_, text) => {
    for (const [patienceMs, silentMs] of [
      [20, 0],
      [5, 30],
    ] as const) {
      const exchange = new Exchange();
      const relay = beginWith(exchange, false);
      const opened = relay.open(patienceMs);
      await Bun.sleep(silentMs);
      exchange.onBody(Buffer.from(text));
      await opened;
      const got: string[] = [];
      const collected = collect(relay, got);
      exchange.onBody(Buffer.from(bytesOf([delta('a'), finish()])));
      await collected;
      expect(got).toHaveLength(2);
    }
  });

  test('opens for a provider that has sent nothing but its 200, if that is enough of a start', async () => {
    const exchange = new Exchange();
    const relay = beginWith(exchange, false);
    await relay.open(5, true);
    const got: string[] = [];
    const collected = collect(relay, got);
    exchange.onBody(Buffer.from(bytesOf([delta('a'), finish()])));
    await collected;
    expect(got).toHaveLength(2);
  });

  test('may think for as long before its first token when it has been opened without one', async () => {
    const exchange = new Exchange();
    exchange.head.catch(() => undefined);
    const deadlines = new Deadlines({ ...TIMEOUTS, idleMs: 100 }, PHASE);
    deadlines.connected();
    const relay = beginWith(exchange, false, 1, deadlines);
    await relay.open(5, true);
    void collect(relay, []).catch(() => undefined);
    expect(deadlines.check(performance.now())).toBeUndefined();
    expect(deadlines.check(performance.now() + 1000)).toBeUndefined();
    exchange.onBody(Buffer.from(`data: ${delta('a')}\n\n`));
    expect(deadlines.check(performance.now())).toBeUndefined();
    expect(deadlines.check(performance.now() + 1000)?.message).toBe('The provider was silent for 0.1 seconds.');
  });

  test('opens for a provider that starts only after the patience has passed', async () => {
    const exchange = new Exchange();
    const relay = beginWith(exchange, false);
    const opened = relay.open(5);
    await Bun.sleep(30);
    exchange.onBody(Buffer.from(`data: ${chunk([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }])}\n\n`));
    await opened;
  });

  const late = new GatewayError('provider_timeout', 'The provider was silent.');
  const draining = new GatewayError('draining', 'This server is shutting down.');
  const reset = new Error('The connection was closed');
  const both = [delta('a'), delta('b', 1), finish(1), finish()];

  test.each<[string, string[], number, (exchange: Exchange) => void]>([
    ['closes without its last chunk', [delta('a'), finish()], 1, (exchange) => exchange.onFailure(reset)],
    ['falls silent', [delta('a'), finish(), usage], 1, (exchange) => exchange.abort(late)],
    ['ends in the middle of an event', [delta('a'), finish()], 1, endMidEvent],
    ['reports an error', [delta('a'), finish()], 1, (exchange) => exchange.onBody(Buffer.from('data: {"error":{"message":"late"}}\n\n'))],
    ['closes when all of its choices have ended', both, 2, (exchange) => exchange.onFailure(reset)],
  ])('is complete when a provider %s after a whole answer', async (_, said, choices, breakOff) => {
    const { got, collected, exchange } = await follow(said, choices);
    breakOff(exchange);
    await collected;
    expect(got).toEqual(got.filter((text) => !text.includes('error')));
    expect(got).toHaveLength(said.filter((text) => text !== usage).length);
  });

  test.each<[string, string[], number, unknown]>([
    ['the client leaves', [delta('a'), finish()], 1, CLIENT_GONE],
    ['the server must stop', [delta('a'), finish()], 1, draining],
    ['a choice has not begun', [delta('a'), finish()], 2, reset],
    ['a choice has not ended', both.slice(0, -1), 2, reset],
    ['more output followed the end', [delta('a'), finish(), more('b')], 1, reset],
  ])('fails with the reason when the stream breaks and %s', async (_, said, choices, reason) => {
    const { collected, exchange } = await follow(said, choices);
    exchange.abort(reason);
    await expect(collected).rejects.toBe(reason);
  });

  test('refuses an unterminated event instead of buffering it', async () => {
    const piece = new Uint8Array(EVENT_CHARACTERS_MAX / 10).fill(0x61);
    const relay = begin([new TextEncoder().encode('data: '), ...Array.from({ length: 20 }, () => piece)], false);
    await expect(relay.open(1000)).rejects.toThrow('unterminated event');
  });
});

function bytesOf(texts: readonly string[], end = 'data: [DONE]\n\n'): Uint8Array {
  return Buffer.from(texts.map((data) => `data: ${data}\n\n`).join('') + end);
}

function slice(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const edges = [0, ...[...at].sort((first, second) => first - second), bytes.length];
  return edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
}

/** Returns a relay whose stream has already arrived. */
function begin(packets: readonly Uint8Array[], wantsUsage: boolean): Relay {
  const exchange = new Exchange();
  for (const packet of packets) exchange.onBody(Buffer.from(packet));
  exchange.onEnd();
  return beginWith(exchange, wantsUsage);
}

function beginWith(exchange: Exchange, wantsUsage: boolean, choices = 1, deadlines = new Deadlines(TIMEOUTS, PHASE)): Relay {
  const chat = { model: 'mock/gpt', messages: [], n: 2 };
  return new Relay(
    exchange,
    {
      parser: new SseParser(),
      decoder: openai.decodeStream({ modelId: 'mock/gpt', wantsUsage, chat, requestId: 'req_1', createdSeconds: 1 }),
      choices,
      hold: () => undefined,
    },
    deadlines,
  );
}

function endMidEvent(exchange: Exchange): void {
  exchange.onBody(Buffer.from('data: {"id":"chatcmpl-1","choi'));
  exchange.onEnd();
}

/** Returns a relay with a listener, after these events. */
async function follow(texts: readonly string[], choices: number): Promise<{ got: string[]; collected: Promise<void>; exchange: Exchange }> {
  const exchange = new Exchange();
  exchange.head.catch(() => undefined);
  const relay = beginWith(exchange, false, choices);
  const opened = relay.open(1000);
  exchange.onBody(Buffer.from(bytesOf(texts, '')));
  await opened;
  const got: string[] = [];
  return { got, collected: collect(relay, got), exchange };
}

function collect(relay: Relay, into: string[]): Promise<void> {
  const onText = (text: string): void => {
    const given = text.split('\n\n').filter((event) => event !== '');
    into.push(...given.map((event) => event.slice('data: '.length)));
  };
  const onTokens = (out: Outbox): void => onText(out.read());
  return new Promise((resolve, reject) => relay.start({ onText, onTokens, onComplete: resolve, onFailure: reject }));
}

async function relayed(packets: readonly Uint8Array[], wantsUsage: boolean): Promise<{ chunks: string[]; usage: unknown }> {
  const relay = begin(packets, wantsUsage);
  await relay.open(1000);
  const chunks: string[] = [];
  await collect(relay, chunks);
  return { chunks, usage: relay.decoder.usage };
}

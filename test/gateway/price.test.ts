import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { modelSchema, type Model } from '../../src/catalog/catalog.ts';
import { affordableOutputTokens, estimateTokens, quote, type Quote } from '../../src/gateway/price.ts';
import { asNanos, type Picos } from '../../src/ledger/money.ts';
import { costOf, type ModelPrice, type TokenPrices } from '../../src/ledger/price.ts';
import type { ChatRequest } from '../../src/openai/types.ts';
import { NO_TOKENS, type TokenUsage } from '../../src/tokens.ts';
import { writePdf } from '../simulator/pdf.ts';

/** Prices in dollars per million tokens, as a provider's price list states them. */
const PRICE = { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 };
const LONG = { over: 1000, input: 5, cached_input: 2.5, cache_write: 6.25, output: 15 };
const MEDIA_ALLOWANCE_TOKENS = 20_000;

function makeModel(price: object, limits: { context?: number; output?: number } = {}): Model {
  return modelSchema.parse({
    id: 'mock/gpt',
    provider: 'mock',
    context_length: limits.context ?? 128_000,
    max_output_tokens: limits.output ?? 16_384,
    price,
    routes: [{ provider: 'mock', model: 'gpt-x' }],
  });
}

function makeChat(fields: Partial<ChatRequest> = {}): ChatRequest {
  return { model: 'mock/gpt', messages: [{ role: 'user', content: 'Hi' }], ...fields };
}

function quoteFor(price: object, fields: Partial<ChatRequest> = {}): Quote {
  return quote(makeModel(price), makeChat(fields), 100);
}

describe('a cost in nano-dollars', () => {
  test.each<[string, object, Partial<TokenUsage>, bigint]>([
    ['nothing', PRICE, {}, 0n],
    ['one token of input', PRICE, { inputTokens: 1 }, 2500n],
    ['one token of output', PRICE, { outputTokens: 1 }, 10_000n],
    ['a million of each', PRICE, { inputTokens: 1_000_000, outputTokens: 1_000_000 }, 12_500_000_000n],
    ['cached input', PRICE, { inputTokens: 10, cachedInputTokens: 90, outputTokens: 5 }, 187_500n],
    ['a cache write', PRICE, { inputTokens: 10, cacheWriteTokens: 90, outputTokens: 5 }, 356_250n],
    ['every bucket', PRICE, { inputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 3, outputTokens: 4 }, 54_375n],
    ['reasoning, which is part of the output', PRICE, { outputTokens: 5, reasoningTokens: 5 }, 50_000n],
    ['a cache without prices of its own', { input: 2, output: 8 }, { cachedInputTokens: 3, cacheWriteTokens: 4 }, 14_000n],
    ['a free model', { input: 0, output: 0 }, { inputTokens: 1_000_000, outputTokens: 1_000_000 }, 0n],
    ['a prompt at the limit of the long tier', { ...PRICE, long: LONG }, { inputTokens: 1000, outputTokens: 1 }, 2_510_000n],
    ['a prompt above the limit', { ...PRICE, long: LONG }, { inputTokens: 1001, outputTokens: 1 }, 5_020_000n],
    [
      'a prompt above the limit by its cached part',
      { ...PRICE, long: LONG },
      { inputTokens: 1, cachedInputTokens: 500, cacheWriteTokens: 500 },
      4_380_000n,
    ],
    ['a long answer to a prompt at the limit', { ...PRICE, long: LONG }, { inputTokens: 1000, outputTokens: 9000 }, 92_500_000n],
    ['the smallest price', { input: 0.000001, output: 0 }, { inputTokens: 1 }, 1n],
    ['a thousand tokens of the smallest price', { input: 0.000001, output: 0 }, { inputTokens: 1000 }, 1n],
    ['one token more', { input: 0.000001, output: 0 }, { inputTokens: 1001 }, 2n],
    [
      'four parts that are rounded up once and not each',
      { input: 0.0001, cached_input: 0.0001, cache_write: 0.0001, output: 0.0001 },
      { inputTokens: 1, cachedInputTokens: 1, cacheWriteTokens: 1, outputTokens: 1 },
      1n,
    ],
    ['counts beyond the precision of a double', PRICE, { inputTokens: 2 ** 31, outputTokens: 2 ** 31 }, 26_843_545_600_000n],
  ])('of %s', (_, price, usage, nanos) => {
    expect(costOf(makeModel(price).price, { ...NO_TOKENS, ...usage })).toBe(asNanos(nanos));
  });
});

describe('a quote', () => {
  test('is the size of the body and the whole output limit at the highest prices', () => {
    const quoted = quote(makeModel(PRICE), makeChat(), 100);
    expect(quoted).toEqual({
      amount: asNanos(100n * 3125n + 16_384n * 10_000n),
      minimum: asNanos(100n * 3125n + 10_000n),
      inputPicos: 312_500_000n as Picos,
      inputTokensMax: 100,
      hasMedia: false,
      inputTokenPicos: 3_125_000n as Picos,
      outputTokenPicos: 10_000_000n as Picos,
      hasCallerLimit: false,
    });
  });

  test.each([{ max_tokens: 7 }, { max_completion_tokens: 7 }])(
    'uses the output limit of the client as both amount and minimum: %j',
    (limit) => {
      const quoted = quote(makeModel(PRICE), makeChat(limit), 100);
      expect(quoted).toMatchObject({ amount: asNanos(382_500n), minimum: asNanos(382_500n), hasCallerLimit: true });
    },
  );

  test('pays for the input as many times as it may be read', () => {
    const one = quote(makeModel(PRICE), makeChat({ n: 3 }), 100);
    const three = quote(makeModel(PRICE), makeChat({ n: 3 }), 100, { prompts: 3 });
    expect(three).toEqual({
      ...one,
      inputPicos: 937_500_000n as Picos,
      amount: asNanos(one.amount + 625_000n),
      minimum: asNanos(one.minimum + 625_000n),
    });
  });

  test.each<[Partial<ChatRequest>]>([[{}], [{ max_completion_tokens: 50 }]])(
    'for n choices pays for n outputs and one input: %j',
    (limit) => {
      const one = quote(makeModel(PRICE), makeChat(limit), 100);
      const three = quote(makeModel(PRICE), makeChat({ ...limit, n: 3 }), 100);
      expect(three.inputPicos).toBe(one.inputPicos);
      expect(three.outputTokenPicos as bigint).toBe(3n * one.outputTokenPicos);
      expect(three.amount - 312_500n).toBe(3n * (one.amount - 312_500n));
      expect(three.minimum).toBe(limit.max_completion_tokens === undefined ? asNanos(342_500n) : three.amount);
    },
  );

  test('never counts more input than the context holds', () => {
    const model = makeModel(PRICE, { context: 50 });
    expect(quote(model, makeChat(), 20_000_000)).toEqual(quote(model, makeChat(), 50));
  });

  test('assumes a full context for a web search', () => {
    const model = makeModel(PRICE, { context: 5000 });
    expect(quote(model, makeChat({ web_search_options: {} }), 10).inputTokensMax).toBe(5000);
  });

  test('uses the long tier as soon as the input could be long', () => {
    const model = makeModel({ ...PRICE, long: LONG });
    expect(quote(model, makeChat(), 1000)).toMatchObject({ inputPicos: 3_125_000_000n, outputTokenPicos: 10_000_000n });
    expect(quote(model, makeChat(), 1001)).toMatchObject({ inputPicos: 6_256_250_000n, outputTokenPicos: 15_000_000n });
  });

  test('includes an allowance for every part that is not text, because a short URL may be a large picture', () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'file', file: { file_data: 'data:text/plain;base64,SGk=' } },
    ];
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
      { role: 'assistant', content: ['refusal', 'thinking', 'reasoning'].map((type) => ({ type, [type]: 'Hm.' })) },
      { role: 'user', content: [content[1]] },
    ];
    const { inputPicos } = quote(makeModel(PRICE), makeChat({ messages }), 100);
    expect(inputPicos as bigint).toBe(BigInt(100 + 3 * MEDIA_ALLOWANCE_TOKENS) * 3_125_000n);
  });

  test.each([
    ['a file by id', { type: 'file', file: { file_id: 'file-1' } }],
    ['a file by URL', { type: 'file', file: { file_data: 'https://example.com/book.pdf' } }],
    ['a film', { type: 'video_url', video_url: { url: 'https://example.com/film.mp4' } }],
    ['an inline film', { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }],
    ['a compressed file', { type: 'file', file: { file_data: 'data:application/vnd.openxmlformats;base64,UEsDBA==' } }],
    ['a file of unknown type', { type: 'file', file: { file_data: 'UEsDBA==' } }],
    ['a PDF without pages', { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0=' }],
    ['a recording by its bare address', { type: 'audio_url', audio_url: 'gs://bucket/talk.mp3' }],
  ])('assumes that %s fills the context, because its length is unknown', (_, part) => {
    const { inputTokensMax } = quote(makeModel(PRICE), makeChat({ messages: [{ role: 'user', content: [part] }] }), 100);
    expect(inputTokensMax).toBe(128_000);
  });

  test('counts an inline recording by its bytes', () => {
    const part = { type: 'audio_url', audio_url: { url: 'data:audio/mpeg;base64,AAAA' } };
    const { inputTokensMax } = quote(makeModel(PRICE), makeChat({ messages: [{ role: 'user', content: [part] }] }), 100);
    expect(inputTokensMax).toBe(100 + MEDIA_ALLOWANCE_TOKENS);
  });

  test.each([
    [1, 'data:application/pdf;base64,', MEDIA_ALLOWANCE_TOKENS],
    [10, 'data:application/pdf;base64,', 80_000],
    [3, '', 24_000],
  ])('counts a PDF of %p pages by the maximum of its pages, however small they are', (pages, before, tokens) => {
    const part = { type: 'file', file: { file_data: before + writePdf(pages).toString('base64') } };
    const { inputTokensMax } = quote(makeModel(PRICE), makeChat({ messages: [{ role: 'user', content: [part] }] }), 100);
    expect(inputTokensMax).toBe(100 + tokens);
  });

  test('does not mistake text for a URL', () => {
    const content = [{ type: 'refusal', refusal: 'Sorry: no.' }];
    const { inputTokensMax } = quote(makeModel(PRICE), makeChat({ messages: [{ role: 'assistant', content }] }), 100);
    expect(inputTokensMax).toBeLessThan(128_000);
  });
});

/** Prices in the unit of the settings, with up to six decimals. */
const price = fc.nat({ max: 100_000_000 }).map((picos) => picos / 1_000_000);

/** Any request, and any usage within its limits. */
const request = fc
  .record({
    bodyBytes: fc.nat({ max: 5000 }),
    n: fc.integer({ min: 1, max: 8 }),
    context: fc.integer({ min: 1, max: 4000 }),
    output: fc.integer({ min: 1, max: 2000 }),
    callerShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    shares: fc.tuple(...Array.from({ length: 4 }, () => fc.double({ min: 0, max: 1, noNaN: true }))),
    over: fc.integer({ min: 1, max: 3000 }),
  })
  .map(({ bodyBytes, n, context, output, callerShare, shares: [prompt = 0, cached = 0, written = 0, answer = 0], over }) => {
    const limit = callerShare === undefined ? undefined : 1 + Math.floor(callerShare * (output - 1));
    const promptTokens = Math.floor(prompt * Math.min(context, bodyBytes));
    const cachedInputTokens = Math.floor(cached * promptTokens);
    const cacheWriteTokens = Math.floor(written * (promptTokens - cachedInputTokens));
    const usage: TokenUsage = {
      inputTokens: promptTokens - cachedInputTokens - cacheWriteTokens,
      cachedInputTokens,
      cacheWriteTokens,
      outputTokens: Math.floor(answer * n * (limit ?? output)),
      reasoningTokens: 0,
    };
    const chat = makeChat({ n, ...(limit === undefined ? {} : { max_completion_tokens: limit }) });
    return { bodyBytes, chat, usage, limits: { context, output }, over };
  });

describe('the held amount', () => {
  test('pays for any usage within the limits of the request, at any prices that the settings accept', () => {
    const prices = fc.record({ input: price, cached_input: price, cache_write: price, output: price });
    fc.assert(
      fc.property(prices, fc.option(prices, { nil: undefined }), request, (base, long, { bodyBytes, chat, usage, limits, over }) => {
        const model = makeModel({ ...base, ...(long !== undefined && { long: { ...long, over } }) }, limits);
        expect(quote(model, chat, bodyBytes).amount).toBeGreaterThanOrEqual(costOf(model.price, usage));
      }),
      { numRuns: 2000 },
    );
  });

  test('pays for any usage at typical prices, where the cache is cheaper and long prompts cost more', () => {
    const prices = fc.tuple(price, price, price, price).map(([input, other, cacheWrite, output]) => ({
      input: Math.max(input, other),
      cached_input: Math.min(input, other),
      cache_write: cacheWrite,
      output,
    }));
    fc.assert(
      fc.property(prices, fc.integer({ min: 1, max: 5 }), request, (base, factor, { bodyBytes, chat, usage, limits, over }) => {
        const long = { over, input: '0', cached_input: '0', cache_write: '0', output: '0' };
        const model = makeModel({ ...base, long }, limits);
        const usual: Model = { ...model, price: { ...model.price, long: { ...scale(model.price, factor), overTokens: over } } };
        expect(quote(usual, chat, bodyBytes).amount).toBeGreaterThanOrEqual(costOf(usual.price, usage));
      }),
      { numRuns: 2000 },
    );
  });

  test('is at least the minimum, and the minimum pays for one token', () => {
    fc.assert(
      fc.property(request, ({ bodyBytes, chat, limits }) => {
        const quoted = quote(makeModel(PRICE, limits), chat, bodyBytes);
        expect(quoted.amount).toBeGreaterThanOrEqual(quoted.minimum);
        expect(affordableOutputTokens(quoted, quoted.minimum)).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  test('buys exactly as many tokens as it pays for', () => {
    fc.assert(
      fc.property(request, fc.nat({ max: 50_000_000 }), ({ bodyBytes, chat, limits }, nanos) => {
        const quoted = quote(makeModel(PRICE, limits), chat, bodyBytes);
        const tokens = BigInt(affordableOutputTokens(quoted, asNanos(BigInt(nanos))));
        const priceOf = (count: bigint): bigint => quoted.inputPicos + count * quoted.outputTokenPicos;
        if (tokens > 0n) expect(priceOf(tokens) <= BigInt(nanos) * 1000n).toBe(true);
        expect(priceOf(tokens + 1n) > BigInt(nanos) * 1000n).toBe(true);
      }),
    );
  });

  test.each<[string, Quote, bigint, number]>([
    ['the input and ten tokens', quoteFor(PRICE), 412_500n, 10],
    ['a little less', quoteFor(PRICE), 412_499n, 9],
    ['the input alone', quoteFor(PRICE), 312_500n, 0],
    ['less than the input', quoteFor(PRICE), 1n, 0],
    ['a debt', quoteFor(PRICE), -5n, 0],
    ['for ten tokens in each of two choices', quoteFor(PRICE, { n: 2 }), 512_500n, 10],
    ['for free output', quoteFor({ input: 1, output: 0 }), 1_000_000n, 0],
  ])('buys the right number of tokens when it is %s', (_, quoted, nanos, tokens) => {
    expect(affordableOutputTokens(quoted, asNanos(nanos))).toBe(tokens);
  });
});

test.each([
  [0, 0],
  [1, 1],
  [4, 1],
  [5, 2],
  [20_000_000, 5_000_000],
])('%d characters are estimated as %d tokens', (characters, tokens) => {
  expect(estimateTokens(characters)).toBe(tokens);
});

function scale(prices: ModelPrice, factor: number): TokenPrices {
  const times = (value: Picos): Picos => (value * BigInt(factor)) as Picos;
  return {
    input: times(prices.input),
    cachedInput: times(prices.cachedInput),
    cacheWrite: times(prices.cacheWrite),
    output: times(prices.output),
  };
}

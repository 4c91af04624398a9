import type { Model } from '../catalog/catalog.ts';
import { priceTokens, roundUpToNanos, type Nanos, type Picos } from '../ledger/money.ts';
import type { ModelPrice, TokenPrices } from '../ledger/price.ts';
import { callerLimitOf, type ChatRequest } from '../openai/types.ts';
import { mediaTokensMax } from './media-tokens.ts';

/** The maximum cost of a request, and the least that must be available to try it. */
export interface Quote {
  readonly amount: Nanos;
  readonly minimum: Nanos;
  /** The worst-case cost of the input alone. */
  readonly inputPicos: Picos;
  /** An upper bound on the input tokens, each time that the input is read. */
  readonly inputTokensMax: number;
  /** True when the input is not only text, so the bound is partly a guess. */
  readonly hasMedia: boolean;
  /** The price of one more input token. */
  readonly inputTokenPicos: Picos;
  /** The price of one more output token, over all choices. */
  readonly outputTokenPicos: Picos;
  /** True when the client set the output limit. The full amount must then be available. */
  readonly hasCallerLimit: boolean;
}

/** A rule of thumb for text, used for the token limit and where a provider reports no usage. */
const CHARACTERS_PER_TOKEN = 4;

/** How the input of a request is read. */
interface Reading {
  /** How many times. */
  readonly prompts?: number;
  /** True when media may take a full context, whatever they look like. */
  readonly isUnbounded?: boolean;
}

/**
 * Computes the worst-case cost of a request. No tokenizer makes more than one token of a byte, so the size in bytes bounds the input
 * tokens without counting them.
 */
export function quote(model: Model, chat: ChatRequest, bodyBytes: number, { prompts = 1, isUnbounded = false }: Reading = {}): Quote {
  const mediaTokens = mediaTokensMax(chat);
  const inputTokens = isUnbounded && mediaTokens > 0 ? model.contextLength : Math.min(model.contextLength, bodyBytes + mediaTokens);
  const prices = highestPricesOf(model.price, inputTokens);
  const outputTokenPicos = priceTokens(chat.n ?? 1, prices.output);
  const inputPicos = priceTokens(prompts * inputTokens, prices.input);
  const callerLimit = callerLimitOf(chat);
  const amount = roundUpToNanos((inputPicos + priceTokens(callerLimit ?? model.maxOutputTokens, outputTokenPicos)) as Picos);
  return {
    amount,
    minimum: callerLimit === undefined ? roundUpToNanos((inputPicos + outputTokenPicos) as Picos) : amount,
    inputPicos,
    inputTokensMax: inputTokens,
    hasMedia: mediaTokens > 0,
    inputTokenPicos: prices.input,
    outputTokenPicos,
    hasCallerLimit: callerLimit !== undefined,
  };
}

/** Returns how many output tokens an amount pays for, once the input is paid. */
export function affordableOutputTokens(quoted: Quote, amount: Nanos): number {
  const restPicos = amount * 1000n - quoted.inputPicos;
  return restPicos <= 0n || quoted.outputTokenPicos === 0n ? 0 : Number(restPicos / quoted.outputTokenPicos);
}

/** Estimates the tokens of a text of this length. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

interface HighestPrices {
  readonly input: Picos;
  readonly output: Picos;
}

/** Prices do not change while the process runs, so the highest ones are computed once per model. */
const HIGHEST_SHORT = new WeakMap<ModelPrice, HighestPrices>();
const HIGHEST_LONG = new WeakMap<ModelPrice, HighestPrices>();

function highestPricesOf(price: ModelPrice, inputTokensMax: number): HighestPrices {
  const mayBeLong = price.long !== undefined && inputTokensMax > price.long.overTokens;
  const known = mayBeLong ? HIGHEST_LONG : HIGHEST_SHORT;
  let prices = known.get(price);
  if (prices === undefined) {
    prices = findHighest(mayBeLong && price.long !== undefined ? [price, price.long] : [price]);
    known.set(price, prices);
  }
  return prices;
}

/** Returns the highest price that an input token, cached or not, and an output token can have. */
function findHighest(tiers: readonly TokenPrices[]): HighestPrices {
  return {
    input: highest(tiers.flatMap(({ input, cachedInput, cacheWrite }) => [input, cachedInput, cacheWrite])),
    output: highest(tiers.map(({ output }) => output)),
  };
}

function highest(prices: readonly Picos[]): Picos {
  return prices.reduce((first, second) => (second > first ? second : first));
}

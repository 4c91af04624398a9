import type { Model } from '../catalog/catalog.ts';
import { priceTokens, roundUpToNanos, type Nanos, type Picos } from '../ledger/money.ts';
import type { ModelPrice, TokenPrices } from '../ledger/price.ts';
import type { ChatRequest } from '../openai/types.ts';
import { mediaTokensMax } from './media-tokens.ts';
import type { Dispatch } from './send.ts';

/** What a request can cost at most, and the least that must be there to try it. */
export interface Quote {
  readonly amount: Nanos;
  readonly minimum: Nanos;
  /** The worst case of the input alone. */
  readonly inputPicos: Picos;
  /** More tokens of input than the request can have, each time that it is read. */
  readonly inputTokensMax: number;
  /** What one more token of input costs. */
  readonly inputTokenPicos: Picos;
  /** What one more token of output costs, over all choices. */
  readonly outputTokenPicos: Picos;
  /** True when the caller fixed the output limit: then it is that or nothing. */
  readonly hasCallerLimit: boolean;
}

/** A rule of thumb for text, used for the token limit and where a provider reports nothing. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * The worst case of a request whose input is read so many times. No tokenizer makes more than one token of a byte, so
 * bytes bound the input uncounted.
 */
export function quote(model: Model, chat: ChatRequest, bodyBytes: number, prompts = 1): Quote {
  const inputTokens = Math.min(model.contextLength, bodyBytes + mediaTokensMax(chat));
  const prices = dearestOf(model.price, inputTokens);
  const outputTokenPicos = priceTokens(chat.n ?? 1, prices.output);
  const inputPicos = priceTokens(prompts * inputTokens, prices.input);
  const withOutput = (tokens: number): Nanos => roundUpToNanos((inputPicos + priceTokens(tokens, outputTokenPicos)) as Picos);
  const callerLimit = callerLimitOf(chat);
  const amount = withOutput(callerLimit ?? model.maxOutputTokens);
  return {
    amount,
    minimum: callerLimit === undefined ? withOutput(1) : amount,
    inputPicos,
    inputTokensMax: inputTokens,
    inputTokenPicos: prices.input,
    outputTokenPicos,
    hasCallerLimit: callerLimit !== undefined,
  };
}

/** The output limit that the caller set, if any. The field has two names; the newer one counts first. */
export function callerLimitOf(chat: ChatRequest): number | undefined {
  return chat.max_completion_tokens ?? chat.max_tokens;
}

/** How many tokens each choice may have: the caller's limit, else what the money is enough for, else what the model can write. */
export function outputLimitOf({ chat, model, outputTokensMax }: Pick<Dispatch, 'chat' | 'model' | 'outputTokensMax'>): number {
  return callerLimitOf(chat) ?? outputTokensMax ?? model.maxOutputTokens;
}

/** How many tokens of output an amount pays for, once the input is paid. */
export function affordableOutputTokens(quoted: Quote, amount: Nanos): number {
  const restPicos = amount * 1000n - quoted.inputPicos;
  return restPicos <= 0n || quoted.outputTokenPicos === 0n ? 0 : Number(restPicos / quoted.outputTokenPicos);
}

/** A guess at the tokens of a text of this length. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

interface Dearest {
  readonly input: Picos;
  readonly output: Picos;
}

/** Prices do not change while the process runs, so each is looked at once. */
const DEAREST_SHORT = new WeakMap<ModelPrice, Dearest>();
const DEAREST_LONG = new WeakMap<ModelPrice, Dearest>();

function dearestOf(price: ModelPrice, inputTokensMax: number): Dearest {
  const mayBeLong = price.long !== undefined && inputTokensMax > price.long.overTokens;
  const known = mayBeLong ? DEAREST_LONG : DEAREST_SHORT;
  let prices = known.get(price);
  if (prices === undefined) {
    prices = dearest(mayBeLong && price.long !== undefined ? [price, price.long] : [price]);
    known.set(price, prices);
  }
  return prices;
}

/** The highest price that a token of the input, whatever becomes of it, and of the output can have. */
function dearest(tiers: readonly TokenPrices[]): Dearest {
  return {
    input: highest(tiers.flatMap(({ input, cachedInput, cacheWrite }) => [input, cachedInput, cacheWrite])),
    output: highest(tiers.map(({ output }) => output)),
  };
}

function highest(prices: readonly Picos[]): Picos {
  return prices.reduce((first, second) => (second > first ? second : first));
}

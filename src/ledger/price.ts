import { priceTokens, roundUpToNanos, type Nanos, type Picos } from './money.ts';
import { promptTokens, type TokenUsage } from '../tokens.ts';

/** What each kind of token costs. */
export interface TokenPrices {
  readonly input: Picos;
  readonly cachedInput: Picos;
  readonly cacheWrite: Picos;
  readonly output: Picos;
}

/** The prices of a model; some charge more when the prompt is long. */
export interface ModelPrice extends TokenPrices {
  readonly long?: TokenPrices & { readonly overTokens: number };
}

/** What the tokens cost, rounded up once. Where a prompt was read several times, it is long if it is so on average. */
export function costOf(price: ModelPrice, usage: TokenUsage, prompts = 1): Nanos {
  const prices = price.long !== undefined && promptTokens(usage) > prompts * price.long.overTokens ? price.long : price;
  const sum =
    priceTokens(usage.inputTokens, prices.input) +
    priceTokens(usage.cachedInputTokens, prices.cachedInput) +
    priceTokens(usage.cacheWriteTokens, prices.cacheWrite) +
    priceTokens(usage.outputTokens, prices.output);
  return roundUpToNanos(sum as Picos);
}

import { priceTokens, roundUpToNanos, type Nanos, type Picos } from './money.ts';
import { promptTokens, type TokenUsage } from '../tokens.ts';

/** The price of each kind of token. */
export interface TokenPrices {
  readonly input: Picos;
  readonly cachedInput: Picos;
  readonly cacheWrite: Picos;
  readonly output: Picos;
}

/** A model's prices. Some models cost more when the prompt is long. */
export interface ModelPrice extends TokenPrices {
  readonly long?: TokenPrices & { readonly overTokens: number };
}

/** Returns the cost of the tokens, rounded up once. A prompt read several times counts as long if its average is. */
export function costOf(price: ModelPrice, usage: TokenUsage, prompts = 1): Nanos {
  const prices = price.long !== undefined && promptTokens(usage) > prompts * price.long.overTokens ? price.long : price;
  let sum = priceTokens(usage.inputTokens, prices.input) + priceTokens(usage.outputTokens, prices.output);
  if (usage.cachedInputTokens > 0) sum += priceTokens(usage.cachedInputTokens, prices.cachedInput);
  if (usage.cacheWriteTokens > 0) sum += priceTokens(usage.cacheWriteTokens, prices.cacheWrite);
  return roundUpToNanos(sum as Picos);
}

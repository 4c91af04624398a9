import type { Model } from '../../catalog/catalog.ts';
import { formatPricePerMillion } from '../../ledger/money.ts';
import type { ModelPrice, TokenPrices } from '../../ledger/price.ts';

/** Describes a model for the public. Its routes are left out. */
export function describeModel(model: Model) {
  return {
    id: model.id,
    name: model.name,
    provider: model.provider,
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    inputModalities: model.inputModalities,
    outputModalities: model.outputModalities,
    features: model.features as readonly string[],
    ...describePrice(model.price),
  };
}

/** Describes the prices of a model, including those for long prompts. */
export function describePrice({ long, ...price }: ModelPrice) {
  return { price: describePrices(price), longPrice: long === undefined ? null : { ...describePrices(long), overTokens: long.overTokens } };
}

/** Formats prices in USD per million tokens, as decimal strings. */
function describePrices({ input, cachedInput, cacheWrite, output }: TokenPrices) {
  return {
    input: formatPricePerMillion(input),
    cachedInput: formatPricePerMillion(cachedInput),
    cacheWrite: formatPricePerMillion(cacheWrite),
    output: formatPricePerMillion(output),
  };
}

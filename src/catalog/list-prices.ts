import { z } from 'zod';
import type { Nanos } from '../ledger/money.ts';
import { costOf } from '../ledger/price.ts';
import type { TokenUsage } from '../tokens.ts';
import { modelSchema, type Model } from './catalog.ts';
import shipped from './models.yaml';

let listed: ReadonlyMap<string, Model> | undefined;

/** Returns the models shipped with the program at their makers' list prices, whatever the settings charge. */
export function listedModels(): readonly Model[] {
  return [...readListed().values()];
}

/**
 * Returns the cost of tokens at the list price of the provider that answered. Undefined when no list price is known:
 * the model or route is the operator's own, or the price depends on the length of each prompt, which sums do not show.
 */
export function costAtList(model: string, provider: string, tokens: TokenUsage): Nanos | undefined {
  const found = readListed().get(model);
  if (found === undefined || found.price.long !== undefined || !found.routes.some((route) => route.provider === provider)) return undefined;
  return costOf(found.price, tokens);
}

function readListed(): ReadonlyMap<string, Model> {
  listed ??= new Map(
    z
      .object({ models: z.array(modelSchema) })
      .parse(shipped)
      .models.map((model) => [model.id, model]),
  );
  return listed;
}

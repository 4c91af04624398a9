import type { Model } from '../catalog/catalog.ts';
import { formatPricePerMillion } from '../ledger/money.ts';
import type { ModelPrice, TokenPrices } from '../ledger/price.ts';
import type { Parts } from './parts.ts';

/** Prices in USD per million tokens, as decimal strings. */
export interface ShownPrices {
  readonly input: string;
  readonly cachedInput: string;
  readonly cacheWrite: string;
  readonly output: string;
}

/** A model as the dashboard shows it. */
export interface ShownModel {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly features: readonly string[];
  readonly price: ShownPrices;
  /** Prices of requests whose prompt is longer than so many tokens. */
  readonly longPrice: (ShownPrices & { readonly overTokens: number }) | null;
}

/** The models that can be called now, as the gate knows them. */
export async function readCatalogue(ask: Parts['ask']): Promise<readonly Model[]> {
  return (await ask({ type: 'catalogue' })) as readonly Model[];
}

/** What people may know of a model: not by which routes it is reached. */
export function showModel(model: Model): ShownModel {
  return {
    id: model.id,
    name: model.name,
    provider: model.provider,
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    inputModalities: model.inputModalities,
    outputModalities: model.outputModalities,
    features: model.features,
    ...showPrice(model.price),
  };
}

/** The prices of a model, as pages show them. */
export function showPrice({ long, ...price }: ModelPrice): Pick<ShownModel, 'price' | 'longPrice'> {
  return { price: showPrices(price), longPrice: long === undefined ? null : { ...showPrices(long), overTokens: long.overTokens } };
}

function showPrices({ input, cachedInput, cacheWrite, output }: TokenPrices): ShownPrices {
  return {
    input: formatPricePerMillion(input),
    cachedInput: formatPricePerMillion(cachedInput),
    cacheWrite: formatPricePerMillion(cacheWrite),
    output: formatPricePerMillion(output),
  };
}

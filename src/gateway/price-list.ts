import type { Model } from '../catalog/catalog.ts';
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts';
import type { Gate } from './gate.ts';

/** Where a model and its price come from. */
export type PriceSource = 'built_in' | 'shipped' | 'file' | 'discovered';

/** A model of the price list, as the operator sees it. */
export interface PricedModel {
  readonly model: Model;
  readonly source: PriceSource;
  /** The model of the shipped list that this one replaces. */
  readonly shipped: Model | undefined;
  /** The current version of its prices. */
  readonly priceVersion: number | undefined;
  /** Whether it can be called: `off` without a configured provider, `disabled` when all of its configured providers are out of service. */
  readonly state: 'served' | 'off' | 'disabled';
}

/** Returns every model of the settings, with all of its routes, and every discovered model. */
export function allModels({ config, catalog }: Pick<Gate, 'config' | 'catalog'>): readonly Model[] {
  const configured = new Set(config.models.map(({ id }) => id));
  return [...config.models, ...catalog.listAll().filter(({ id }) => !configured.has(id))];
}

/** Returns the whole price list, including models that cannot be called for lack of a provider. */
export function listPrices(gate: Pick<Gate, 'config' | 'catalog' | 'priceVersions'>): PricedModel[] {
  const { config, catalog, priceVersions } = gate;
  const shipped = new Map(config.shippedModels.map((model) => [model.id, model]));
  const configured = new Set(config.models.map(({ id }) => id));
  const sourceOf = (model: Model): PriceSource => {
    if (!configured.has(model.id)) return 'discovered';
    if (shipped.get(model.id) !== model) return 'file';
    return model.provider === SANDBOX_PROVIDER ? 'built_in' : 'shipped';
  };
  return allModels(gate).map((model) => ({
    model,
    source: sourceOf(model),
    shipped: shipped.get(model.id) === model ? undefined : shipped.get(model.id),
    priceVersion: priceVersions.get(model.id),
    state: catalog.isPaused(model.id) ? 'disabled' : catalog.find(model.id) === undefined ? 'off' : 'served',
  }));
}

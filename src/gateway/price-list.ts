import type { Model } from '../catalog/catalog.ts';
import { SANDBOX_PROVIDER } from '../providers/sandbox.ts';
import type { Gate } from './gate.ts';

/** Where a model and its price come from. */
export type PriceSource = 'built_in' | 'shipped' | 'file' | 'discovered';

/** A model as the operator sees it. */
export interface PricedModel {
  readonly model: Model;
  readonly source: PriceSource;
  /** The one of the shipped list that it stands in for. */
  readonly shipped: Model | undefined;
  /** The version of its prices that is in force. */
  readonly priceVersion: number | undefined;
  /** Whether it can be called: `off` where none of its providers is configured, `disabled` where all that are were taken out of service. */
  readonly state: 'served' | 'off' | 'disabled';
}

/** Every model of the settings, with all of its routes, and what was discovered. */
export function allModels({ config, catalog }: Pick<Gate, 'config' | 'catalog'>): readonly Model[] {
  const settled = new Set(config.models.map(({ id }) => id));
  return [...config.models, ...catalog.listAll().filter(({ id }) => !settled.has(id))];
}

/** The whole price list, with what cannot be called for want of a provider. */
export function listPrices(gate: Pick<Gate, 'config' | 'catalog' | 'priceVersions'>): PricedModel[] {
  const { config, catalog, priceVersions } = gate;
  const shipped = new Map(config.shippedModels.map((model) => [model.id, model]));
  const settled = new Set(config.models.map(({ id }) => id));
  const sourceOf = (model: Model): PriceSource => {
    if (!settled.has(model.id)) return 'discovered';
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

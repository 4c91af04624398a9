import type { Model } from '../catalog/catalog.ts';
import type { PricedModel } from '../gateway/price-list.ts';
import type { ProviderList } from '../gateway/provider-list.ts';
import type { Trial } from '../gateway/try-route.ts';
import type { KeyUse, OwnLimits } from '../limits/limits.ts';
import type { LedgerState } from '../observe/metrics.ts';
import type { Parts } from './parts.ts';

/** What the gate answers to each question of the dashboard: serve.ts has the other side. */

type Ask = Parts['ask'];

/** The models that can be called now. */
export async function askCatalogue(ask: Ask): Promise<readonly Model[]> {
  return (await ask({ type: 'catalogue' })) as readonly Model[];
}

/** Every model, with what cannot be called now, and where its price comes from. */
export async function askPriceList(ask: Ask): Promise<readonly PricedModel[]> {
  return (await ask({ type: 'price-list' })) as readonly PricedModel[];
}

/** Every provider, switched on or not. */
export async function askProviders(ask: Ask): Promise<ProviderList> {
  return (await ask({ type: 'providers' })) as ProviderList;
}

/** One small call of a model at a provider; undefined where no route leads there. */
export async function askTrial(ask: Ask, provider: string, model: string): Promise<Trial | undefined> {
  return (await ask({ type: 'trial', provider, model })) as Trial | undefined;
}

/** How the ledger of this process does. */
export async function askLedger(ask: Ask): Promise<LedgerState> {
  return (await ask({ type: 'ledger' })) as LedgerState;
}

/** Where a key stands against its limits, as far as this process knows. */
export async function askLimits(ask: Ask, keyId: string, own: OwnLimits): Promise<KeyUse> {
  return (await ask({ type: 'limits', keyId, own })) as KeyUse;
}

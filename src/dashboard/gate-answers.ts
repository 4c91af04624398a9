import type { Model } from '../catalog/catalog.ts';
import type { PricedModel } from '../gateway/price-list.ts';
import type { ProviderList } from '../gateway/provider-list.ts';
import type { Trial } from '../gateway/try-route.ts';
import type { KeyUse, OwnLimits } from '../limits/limits.ts';
import type { LedgerState } from '../observe/metrics.ts';
import type { Dependencies } from './dependencies.ts';

/** Typed questions from the dashboard to the gate. The other side is in serve.ts. */

type Ask = Dependencies['ask'];

/** Returns the models that can be called now. */
export async function askCatalogue(ask: Ask): Promise<readonly Model[]> {
  return (await ask({ type: 'catalogue' })) as readonly Model[];
}

/** Returns every model, including those that cannot be called now, with the source of its price. */
export async function askPriceList(ask: Ask): Promise<readonly PricedModel[]> {
  return (await ask({ type: 'price-list' })) as readonly PricedModel[];
}

/** Returns every provider, configured or not. */
export async function askProviders(ask: Ask): Promise<ProviderList> {
  return (await ask({ type: 'providers' })) as ProviderList;
}

/** Makes one small call to a model at a provider; undefined if the model has no route to it. */
export async function askTrial(ask: Ask, provider: string, model: string): Promise<Trial | undefined> {
  return (await ask({ type: 'trial', provider, model })) as Trial | undefined;
}

/** Returns the state of this process's ledger. */
export async function askLedger(ask: Ask): Promise<LedgerState> {
  return (await ask({ type: 'ledger' })) as LedgerState;
}

/** Returns how much of its limits a key has used, as far as this process knows. */
export async function askLimits(ask: Ask, keyId: string, own: OwnLimits): Promise<KeyUse> {
  return (await ask({ type: 'limits', keyId, own })) as KeyUse;
}

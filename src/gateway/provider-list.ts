import type { Model } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import { HOSTS, variablesOf } from '../providers/hosts.ts';
import type { Gate } from './gate.ts';
import { allModels } from './price-list.ts';
import { tryRoute, type Trial } from './try-route.ts';

/** A provider as the operator sees it. It shows no credential, and only the host of its address, because the rest may contain one. */
export interface ListedProvider {
  readonly id: string;
  readonly name: string;
  readonly dialect: string;
  readonly host: string | undefined;
  /** Where its credential comes from: a variable or the settings file; undefined where it needs none. */
  readonly credential: string | undefined;
  readonly region: string | undefined;
  readonly apiVersion: string | undefined;
  readonly discovers: boolean;
  /** Its models: our id, the name of the model or deployment there, and whether no other provider has it. */
  readonly models: readonly { readonly id: string; readonly name: string; readonly isOnlyHere: boolean }[];
}

/** The configured providers, and the known hosts that could be enabled. */
export interface ProviderList {
  readonly configured: readonly ListedProvider[];
  /** Known hosts that are not enabled, with the variables that enable them. Some variables may be missing although the key is set. */
  readonly known: readonly {
    readonly id: string;
    readonly name: string;
    readonly variables: readonly string[];
    readonly missing: readonly string[];
  }[];
}

type Known = Pick<Gate, 'config' | 'catalog'>;

/** Lists every provider, enabled or not. */
export function listProviders(gate: Known): ProviderList {
  const { providers, incompleteHosts } = gate.config;
  const models = allModels(gate);
  return {
    configured: [...providers.values()].map((provider) => describe(provider, models, (id) => providers.has(id))),
    known: Object.entries(HOSTS)
      .filter(([id]) => !providers.has(id))
      .map(([id, host]) => ({
        id,
        name: host.name,
        variables: host.addressVariable === undefined ? variablesOf(host) : [host.addressVariable],
        missing: incompleteHosts.find((incomplete) => incomplete.id === id)?.missing ?? [],
      })),
  };
}

function describe(provider: ProviderConfig, models: readonly Model[], isConfigured: (id: string) => boolean): ListedProvider {
  const { id, dialect, baseUrl, credential, aws, apiVersion, discovers, host } = provider;
  return {
    id,
    name: host?.name ?? id,
    dialect,
    host: baseUrl === '' ? undefined : new URL(baseUrl).host,
    credential,
    region: aws?.region,
    apiVersion,
    discovers,
    models: models.flatMap((model) => {
      const isOnlyHere = model.routes.every((route) => route.provider === id || !isConfigured(route.provider));
      return model.routes.filter((route) => route.provider === id).map((route) => ({ id: model.id, name: route.model, isOnlyHere }));
    }),
  };
}

/** Shorter than the half minute after which the dashboard gives up on an answer. */
const TRIAL_MS = 20_000;

/** Sends one small real request to a provider with our own credential. No account is charged. Undefined where no route leads there. */
export async function tryProvider(
  gate: Known & Pick<Gate, 'client'>,
  { provider: id, model: modelId }: { readonly provider: string; readonly model: string },
): Promise<Trial | undefined> {
  const { config, client } = gate;
  const provider = config.providers.get(id);
  const model = allModels(gate).find((each) => each.id === modelId);
  const route = model?.routes.find((each) => each.provider === id);
  if (provider === undefined || model === undefined || route === undefined) return undefined;
  return tryRoute({ client, model, route, provider, timeoutMs: Math.min(TRIAL_MS, config.timeouts.answerMs) });
}

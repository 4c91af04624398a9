import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog, Model } from './catalog/catalog.ts';
import { readModelList, toFreeModel, type ListedModel } from './catalog/model-list.ts';
import type { Config, ProviderConfig } from './config.ts';
import { HttpClient } from './http/client.ts';
import { getJson, DocumentError } from './http/get-json.ts';
import type { Log } from './observe/log.ts';
import { DIALECTS } from './providers/dialects.ts';

const LIST_LIMITS = { timeoutMs: 5000, bytesMax: 8_000_000 };
/** How often a server is polled, and how soon after a failure. The retry delay doubles up to the usual interval. */
const PACE = { usualMs: 60_000, retryMs: 1000 };

/** The dependencies of model discovery. */
export interface DiscoveryParts {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly client: HttpClient;
  readonly log: Log;
  /** Records the prices of models before they can be called. */
  readonly record: (models: readonly Model[]) => Promise<void>;
}

/** Keeps the catalogue up to date with the models of self-hosted servers. Nothing waits for it, because a server may be down. */
export class Discovery {
  readonly #parts: DiscoveryParts;
  readonly #pace: typeof PACE;
  readonly #abort = new AbortController();
  readonly #watches: Promise<void>[] = [];

  constructor(parts: DiscoveryParts, pace: typeof PACE = PACE) {
    this.#parts = parts;
    this.#pace = pace;
  }

  start(): void {
    for (const provider of discoveringProviders(this.#parts.config)) this.#watches.push(this.#watch(provider));
  }

  /** Resolves when no poll is running any more. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#watches);
  }

  /** Polls one server. Its models stay listed while it does not answer, because it may only be restarting. */
  async #watch(provider: ProviderConfig): Promise<void> {
    const { signal } = this.#abort;
    let failures = 0;
    let seen: string | undefined;
    while (!signal.aborted) {
      try {
        seen = await this.#poll(provider, seen);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1 && !signal.aborted) this.#logFailure(provider, error);
      }
      const waitMs = failures === 0 ? this.#pace.usualMs : Math.min(this.#pace.usualMs, this.#pace.retryMs * 2 ** (failures - 1));
      // The wait is only cut short when the gateway stops.
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Logged once, not with every poll: a self-hosted server is often down for hours. */
  #logFailure({ id }: ProviderConfig, error: unknown): void {
    const { log } = this.#parts;
    if (error instanceof DocumentError)
      log.lifecycle('the models of a self-hosted server could not be read', { provider: id, reason: error.message });
    else log.internalError('discovered models could not be listed', error);
  }

  /** Polls a server once and returns what was seen, so that an unchanged list is recognised. */
  async #poll(provider: ProviderConfig, before: string | undefined): Promise<string> {
    const { catalog, client, log, record } = this.#parts;
    const models = toFreeModels(provider, await fetchModelList(client, provider, this.#abort.signal));
    const seen = models.map(({ id, contextLength }) => `${id} ${contextLength}`).join('\n');
    if (seen === before) return seen;
    await record(catalog.excludeSold(models));
    catalog.discover(provider.id, models);
    log.lifecycle('discovered the models of a self-hosted server', { provider: provider.id, models: models.length });
    return seen;
  }
}

/** The models that self-hosted servers have right now, by provider. */
export interface Discovered {
  readonly models: ReadonlyMap<string, readonly Model[]>;
  /** The servers that returned no list, with the reason. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Asks every self-hosted server once, for commands. */
export async function discoverModels(config: Config): Promise<Discovered> {
  const client = new HttpClient();
  const models = new Map<string, readonly Model[]>();
  const failed = new Map<string, string>();
  const ask = async (provider: ProviderConfig): Promise<void> => {
    try {
      models.set(provider.id, toFreeModels(provider, await fetchModelList(client, provider)));
    } catch (error) {
      failed.set(provider.id, (error as Error).message);
    }
  };
  await Promise.all(discoveringProviders(config).map(ask));
  client.close();
  return { models, failed };
}

/** Reads a provider's own model list. */
export async function fetchModelList(client: HttpClient, provider: ProviderConfig, signal?: AbortSignal): Promise<ListedModel[]> {
  const { host, baseUrl } = provider;
  let failure: unknown;
  for (const place of host?.modelLists ?? ['models']) {
    try {
      const url = new URL(place, `${baseUrl}/`).href;
      const body = await getJson(client, { url, headers: credentialsOf(provider), signal, ...LIST_LIMITS });
      const listed = readModelList(body);
      if (listed !== undefined) return listed;
      failure = new DocumentError('its answer is not a list of models');
    } catch (error) {
      failure = error;
    }
  }
  throw failure instanceof DocumentError && isWithoutPath(provider, failure)
    ? new DocumentError(`${failure.message}; its address probably lacks /v1`)
    : failure;
}

/** Finds the usual mistake, the address of a server instead of that of its API. Whatever cannot be reached (a cause) has another reason. */
function isWithoutPath({ baseUrl }: ProviderConfig, { cause }: DocumentError): boolean {
  return cause === undefined && new URL(baseUrl).pathname === '/';
}

/** Returns the authentication headers, as the dialect writes them. */
function credentialsOf(provider: ProviderConfig): Record<string, string> {
  const target = { ...provider, model: 'any', outputTokensMax: undefined };
  const { headers } = DIALECTS[provider.dialect].encodeRequest({ model: 'any', messages: [{ role: 'user', content: 'any' }] }, target);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-type'));
}

function discoveringProviders(config: Config): ProviderConfig[] {
  return [...config.providers.values()].filter(({ discovers }) => discovers);
}

function toFreeModels(provider: ProviderConfig, listed: readonly ListedModel[]): Model[] {
  return listed.flatMap((model) => toFreeModel(provider.id, model) ?? []);
}

import type { ProviderConfig } from '../config.ts';
import { TokenSource, type ServiceAccount } from '../providers/vertex/service-account.ts';

/** One source of tokens for each service account of the settings, gone with them: two gates in one process share none. */
const sources = new WeakMap<ServiceAccount, TokenSource>();

/** What a provider is called with: its key, or an access token that is fetched when the last one ends. */
export async function keyFor({ apiKey, serviceAccount }: ProviderConfig): Promise<string | undefined> {
  if (serviceAccount === undefined) return apiKey;
  let source = sources.get(serviceAccount);
  if (source === undefined) {
    source = new TokenSource(serviceAccount, { nowMs: Date.now, fetch: fetchDirectly });
    sources.set(serviceAccount, source);
  }
  return source.token();
}

/** As providers themselves are asked: not by way of a proxy that the environment names. */
function fetchDirectly(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, proxy: false });
}

import type { ProviderConfig } from '../config.ts';
import { TokenSource, type ServiceAccount } from '../providers/vertex/service-account.ts';

/** One token source per service account of the settings, released with them. Two gates in one process share none. */
const sources = new WeakMap<ServiceAccount, TokenSource>();

/** Returns the credential for a provider: its key, or an access token that is renewed when it expires. */
export async function keyFor({ apiKey, serviceAccount }: ProviderConfig): Promise<string | undefined> {
  if (serviceAccount === undefined) return apiKey;
  let source = sources.get(serviceAccount);
  if (source === undefined) {
    source = new TokenSource(serviceAccount, { nowMs: Date.now, fetch: fetchDirectly });
    sources.set(serviceAccount, source);
  }
  return source.token();
}

/** Fetches the way providers are called: not through a proxy named by the environment. */
function fetchDirectly(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, proxy: false });
}

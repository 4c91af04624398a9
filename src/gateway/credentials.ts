import type { ProviderConfig } from '../config.ts';
import { TokenSource } from '../providers/gemini/service-account.ts';

/** One source of tokens for each provider that needs tokens; as many entries as there are such providers. */
const sources = new Map<string, TokenSource>();

/** What a provider is called with: its key, or an access token that is fetched when the last one ends. */
export async function keyFor(provider: ProviderConfig): Promise<string | undefined> {
  const { id, apiKey, serviceAccount } = provider;
  if (serviceAccount === undefined) return apiKey;
  let source = sources.get(id);
  if (source === undefined) {
    source = new TokenSource(serviceAccount, { nowMs: Date.now, fetch });
    sources.set(id, source);
  }
  return source.token();
}

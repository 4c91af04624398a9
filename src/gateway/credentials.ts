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

/** The credentials that requests to a provider carry or are signed with. */
export type Credentials = Pick<ProviderConfig, 'apiKey' | 'aws' | 'serviceAccount'>;

/** Redacts our credentials in a text of the provider, in case it repeats them. */
export function redact(text: string, credentials: Credentials | undefined): string {
  if (credentials === undefined) return text;
  return secretsOf(credentials).reduce((redacted, secret) => redacted.replaceAll(formOf(secret), '[redacted]'), text);
}

function secretsOf({ apiKey, aws, serviceAccount }: Credentials): string[] {
  const token = serviceAccount === undefined ? undefined : sources.get(serviceAccount)?.latest;
  return [apiKey, token, aws?.sessionToken, aws?.secretAccessKey, aws?.accessKeyId].filter(
    (each): each is string => each !== undefined && each !== '',
  );
}

/** Shorter keys are placeholders for servers that need none, like `x` or `token`. Inside other words they are not the key. */
const SECRET_CHARACTERS_MIN = 8;

function formOf(secret: string): string | RegExp {
  return secret.length >= SECRET_CHARACTERS_MIN ? secret : new RegExp(`(?<!\\w)${RegExp.escape(secret)}(?!\\w)`, 'g');
}

/** Fetches the way providers are called: not through a proxy named by the environment. */
function fetchDirectly(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, proxy: false });
}

import type { JsonObject } from '../../openai/types.ts';
import { readObject } from '../parse-object.ts';
import { ProviderFault } from '../dialect.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3600;
/** Tokens are renewed this long before they expire, so that none expires in transit. */
const RENEW_BEFORE_MS = 300_000;
const EXCHANGE_MS = 10_000;

/** The fields used from a service account's key file. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly privateKeyId: string | undefined;
  readonly tokenUri: string;
}

/** Reads a key file. Errors name the field but never its value. */
export function parseServiceAccount(text: string): ServiceAccount {
  const file = readObject(text);
  if (file === undefined) throw new Error('The service account is not a JSON object');
  const tokenUri = readField(file, 'token_uri');
  // The signed assertion is as good as a password for an hour.
  if (!URL.canParse(tokenUri) || new URL(tokenUri).protocol !== 'https:')
    throw new Error("'token_uri' of the service account must be https");
  const { private_key_id: keyId } = file;
  return {
    clientEmail: readField(file, 'client_email'),
    privateKey: readField(file, 'private_key'),
    privateKeyId: typeof keyId === 'string' ? keyId : undefined,
    tokenUri,
  };
}

/** External dependencies of a token source. */
export interface TokenSourceOptions {
  readonly nowMs: () => number;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** Provides access tokens for one service account and reuses each until shortly before it expires. */
export class TokenSource {
  readonly #account: ServiceAccount;
  readonly #options: TokenSourceOptions;
  #token: { readonly value: string; readonly renewAtMs: number } | undefined;
  #exchange: Promise<string> | undefined;

  constructor(account: ServiceAccount, options: TokenSourceOptions) {
    this.#account = account;
    this.#options = options;
  }

  /** The token fetched last, which may have expired; undefined before the first. */
  get latest(): string | undefined {
    return this.#token?.value;
  }

  /** Returns a token that stays valid for a while. Concurrent callers share one exchange. A failed exchange is not cached. */
  token(): Promise<string> {
    if (this.#token !== undefined && this.#options.nowMs() < this.#token.renewAtMs) return Promise.resolve(this.#token.value);
    this.#exchange ??= this.#renew().finally(() => (this.#exchange = undefined));
    return this.#exchange;
  }

  async #renew(): Promise<string> {
    const nowMs = this.#options.nowMs();
    const assertion = await signAssertion(this.#account, Math.floor(nowMs / 1000));
    const response = await this.#options.fetch(this.#account.tokenUri, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
      redirect: 'error',
      signal: AbortSignal.timeout(EXCHANGE_MS),
    });
    const body = readObject(await response.text()) ?? {};
    const { access_token: value, expires_in: seconds } = body;
    if (!response.ok || typeof value !== 'string' || typeof seconds !== 'number') throw exchangeFault(response.status, body);
    this.#token = { value, renewAtMs: nowMs + seconds * 1000 - RENEW_BEFORE_MS };
    return value;
  }
}

/** A refusal means our credentials are wrong. Anything else is a failure of the token server. */
function exchangeFault(status: number, { error, error_description: description }: JsonObject): ProviderFault {
  const reason = [error, description].filter((text) => typeof text === 'string').join(': ');
  return new ProviderFault(`No access token for the service account (status ${status})${reason === '' ? '' : `: ${reason}`}`, {
    status: status >= 400 && status < 500 ? 401 : 502,
  });
}

/** Signs the claim that is exchanged for a token (RFC 7523). */
async function signAssertion(account: ServiceAccount, issuedAtSeconds: number): Promise<string> {
  const header = { alg: 'RS256', typ: 'JWT', ...(account.privateKeyId === undefined ? {} : { kid: account.privateKeyId }) };
  const claims = {
    iss: account.clientEmail,
    scope: SCOPE,
    aud: account.tokenUri,
    iat: issuedAtSeconds,
    exp: issuedAtSeconds + ASSERTION_SECONDS,
  };
  const signed = `${encodeSegment(Buffer.from(JSON.stringify(header)))}.${encodeSegment(Buffer.from(JSON.stringify(claims)))}`;
  const signature = await crypto.subtle.sign(ALGORITHM.name, await importKey(account.privateKey), new TextEncoder().encode(signed));
  return `${signed}.${encodeSegment(Buffer.from(signature))}`;
}

const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

async function importKey(pem: string): Promise<CryptoKey> {
  const bytes = Uint8Array.from(Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64'));
  try {
    return await crypto.subtle.importKey('pkcs8', bytes, ALGORITHM, false, ['sign']);
  } catch {
    // The runtime's own error is not helpful and may reveal part of the key.
    throw new ProviderFault("'private_key' of the service account is not an RSA key in PKCS #8 form", { status: 401 });
  }
}

function encodeSegment(bytes: Buffer): string {
  return bytes.toString('base64url');
}

function readField(file: JsonObject, name: string): string {
  const value = file[name];
  if (typeof value !== 'string' || value === '') throw new Error(`'${name}' of the service account is missing`);
  return value;
}

import { ApiError, readError } from './api.ts';
import { faults } from './strings/index.ts';

const TIMEOUT_MS = 30_000;

/** Asks the part of the server that signs people up and in. A refusal is an `ApiError`; unlike elsewhere, 401 leads nowhere else. */
export async function askAuth<Body>(method: 'GET' | 'POST', path: string, body: object = {}): Promise<Body> {
  const init = method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  let answer: Response;
  try {
    answer = await fetch(`/api/auth${path}`, { method, ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    throw new ApiError({ status: 0, code: 'unreachable', message: faults.unreachable });
  }
  if (!answer.ok) throw await readError(answer);
  return (await answer.json()) as Body;
}

/** What signing in leads to: a session, or the question for a second factor. */
export interface SignInAnswer {
  readonly token?: string | null;
  readonly twoFactorRedirect?: boolean;
}

/** True where this browser can keep passkeys and turn what the server sends into what it needs. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** Signs in with a passkey that this device or a key in somebody's pocket holds. */
export async function signInWithPasskey(): Promise<void> {
  const options = await askAuth<PublicKeyCredentialRequestOptionsJSON>('GET', '/passkey/generate-authenticate-options');
  const credential = await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON({ ...options, userVerification: 'required' }),
  });
  await askAuth('POST', '/passkey/verify-authentication', { response: toJson(credential) });
}

/** Makes a passkey for whoever is signed in. */
export async function addPasskey(name: string): Promise<void> {
  const options = await askAuth<PublicKeyCredentialCreationOptionsJSON>('GET', '/passkey/generate-register-options');
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  await askAuth('POST', '/passkey/verify-registration', { response: toJson(credential), name });
}

/** True when the reader closed the browser's own question: no failure to tell about. */
export function wasCancelled(error: unknown): boolean {
  return error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError');
}

function toJson(credential: Credential | null): unknown {
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new ApiError({ status: 0, code: 'no_passkey', message: faults.noPasskey });
}

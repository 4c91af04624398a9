import { afterSignOut, ApiError, readError } from './api.ts';
import { faults } from './strings/index.ts';

const TIMEOUT_MS = 30_000;

/** Calls the server's authentication endpoints. Throws an `ApiError` on failure. As with `call`, a session that has ended leads to the sign-in page. */
export async function callAuth<Body>(method: 'GET' | 'POST', path: string, body: object = {}): Promise<Body> {
  const init = method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(`/api/auth${path}`, { method, ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    throw new ApiError({ status: 0, code: 'unreachable', message: faults.unreachable });
  }
  if (!response.ok) {
    const error = await readError(response);
    throw isSignedOut(error) ? afterSignOut(error) : error;
  }
  return (await response.json()) as Body;
}

/** Tells a session that has ended from a wrong password or code, which are also answered with 401. */
function isSignedOut({ code, field }: ApiError): boolean {
  return code === 'unauthenticated' && field === undefined;
}

/** Response to signing in or up: a session, or what must come before it. */
export interface SignInAnswer {
  readonly isSignedIn?: boolean;
  readonly twoFactorRedirect?: boolean;
}

/** Tells whether this browser supports passkeys and can parse the server's options for them. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** Signs in with a passkey from this device or a security key. */
export async function signInWithPasskey(): Promise<void> {
  const options = await callAuth<PublicKeyCredentialRequestOptionsJSON>('GET', '/passkey/generate-authenticate-options');
  const credential = await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON({ ...options, userVerification: 'required' }),
  });
  await callAuth('POST', '/passkey/verify-authentication', { response: toJson(credential) });
}

/** Creates a passkey for the signed-in user. */
export async function addPasskey(name: string): Promise<void> {
  const options = await callAuth<PublicKeyCredentialCreationOptionsJSON>('GET', '/passkey/generate-register-options');
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  await callAuth('POST', '/passkey/verify-registration', { response: toJson(credential), name });
}

/** Tells whether the user dismissed the browser's passkey prompt, which is not an error to report. */
export function wasCancelled(error: unknown): boolean {
  return error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError');
}

function toJson(credential: Credential | null): unknown {
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new ApiError({ status: 0, code: 'no_passkey', message: faults.noPasskey });
}

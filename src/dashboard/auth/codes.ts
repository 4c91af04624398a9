import { parseCookies } from 'better-auth/cookies';
import { MINUTE_MS } from '../../durations.ts';
import { ApiError, TooManyError } from '../api-error.ts';
import type { Library } from './library.ts';
import type { RateLimits, RateRule } from '../rate-limits.ts';

/** Codes for one account in a row, from everywhere. */
const CODES: RateRule = { kind: 'code-person', max: 10, windowMs: 15 * MINUTE_MS };
/** Longer than a code of an authenticator app is valid. */
const USED: RateRule = { kind: 'code-used', max: 1, windowMs: 5 * MINUTE_MS };

interface CodeCheck {
  readonly limits: RateLimits;
  readonly library: Library;
}

/**
 * Counts a code before it is checked, for the person who is signing in. The library counts wrong codes afterwards, so codes that arrive
 * at the same moment would all be tried. Returns the person; undefined if the cookie belongs to no sign-in, which the library refuses.
 */
export async function admitCode({ limits, library }: CodeCheck, headers: Headers): Promise<string | undefined> {
  const { internalAdapter, createAuthCookie } = await library.$context;
  const signed = parseCookies(headers.get('cookie') ?? '').get(createAuthCookie('two_factor').name) ?? '';
  // The signature follows the last dot. Without it the name of a sign-in is still a secret that nobody else has.
  const signIn = await internalAdapter.findVerificationValue(signed.slice(0, signed.lastIndexOf('.')));
  if (signIn === null) return undefined;
  await limits.admit([[CODES, signIn.value]]);
  return signIn.value;
}

/** Starts the count of a person anew, after a right code. */
export async function forgetCodes({ limits }: CodeCheck, personId: string): Promise<void> {
  await limits.forget(CODES, personId);
}

/** The library's response after a code has completed a sign-in. */
interface SignedIn {
  readonly token: string;
  readonly user: { readonly id: string };
}

/**
 * Allows each code to complete one sign-in. The library accepts a code for as long as it is valid, a minute and a half, so anyone
 * who saw it being typed could use it too. The session of a second sign-in is revoked.
 */
export async function refuseUsedCode({ limits, library }: CodeCheck, code: unknown, response: Response): Promise<void> {
  const { token, user } = (await response.clone().json()) as SignedIn;
  try {
    await limits.admit([[USED, `${user.id} ${String(code)}`]]);
  } catch (error) {
    await (await library.$context).internalAdapter.deleteSession(token);
    if (!(error instanceof TooManyError)) throw error;
    throw new ApiError('unauthenticated', 'This code has already been used. Wait for the next one and sign in again.', 'code');
  }
}

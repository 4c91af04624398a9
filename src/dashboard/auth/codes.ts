import { MINUTE_MS } from '../../durations.ts';
import { ApiError, TooManyError } from '../api-error.ts';
import type { Library } from './library.ts';
import type { RateLimits, RateRule } from '../rate-limits.ts';

/** Longer than a code of an authenticator app is valid. */
const USED: RateRule = { kind: 'code-used', max: 1, windowMs: 5 * MINUTE_MS };

/** The library's response after a code has completed a sign-in. */
interface SignedIn {
  readonly token: string;
  readonly user: { readonly id: string };
}

/**
 * Allows each code to complete one sign-in. The library accepts a code for as long as it is valid, a minute and a half, so anyone
 * who saw it being typed could use it too. The session of a second sign-in is revoked.
 */
export async function refuseUsedCode(
  { limits, library }: { readonly limits: RateLimits; readonly library: Library },
  code: unknown,
  response: Response,
): Promise<void> {
  const { token, user } = (await response.clone().json()) as SignedIn;
  try {
    await limits.admit([[USED, `${user.id} ${String(code)}`]]);
  } catch (error) {
    await (await library.$context).internalAdapter.deleteSession(token);
    if (!(error instanceof TooManyError)) throw error;
    throw new ApiError('unauthenticated', 'This code has already been used. Wait for the next one and sign in again.', 'code');
  }
}

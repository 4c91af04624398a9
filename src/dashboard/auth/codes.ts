import { MINUTE_MS } from '../../durations.ts';
import { ApiError, TooManyError } from '../api-error.ts';
import type { Library } from './library.ts';
import type { RateLimits, RateRule } from '../rate-limits.ts';

/** Longer than a code of an authenticator app is good for. */
const USED: RateRule = { kind: 'code-used', max: 1, windowMs: 5 * MINUTE_MS };

/** The sign-in that a code has just completed, as the library tells of it. */
interface SignedIn {
  readonly token: string;
  readonly user: { readonly id: string };
}

/**
 * Lets a code complete one sign-in. The library takes it for as long as it is good, a minute and a half, so whoever saw it
 * being typed could use it too. The sign-in that comes second is taken back.
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

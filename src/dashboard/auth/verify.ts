import { createHmac, timingSafeEqual } from 'node:crypto';
import { verifyJWT } from 'better-auth/crypto';
import { ApiError } from '../api-error.ts';
import type { Library } from './library.ts';

/** The content of a verification link. */
export interface VerificationClaim {
  readonly email: string;
  /** The new address, if the link changes the address. */
  readonly updateTo: string | undefined;
  /** When the link was sent, in whole seconds. */
  readonly sentAtSeconds: number;
}

/** Reads the token of a link. Throws if we did not sign it or it has expired. */
export async function readVerification(token: string, secret: string): Promise<VerificationClaim> {
  const claim = await verifyJWT<{ email?: unknown; updateTo?: unknown; iat?: number }>(token, secret);
  if (typeof claim?.email !== 'string') throw linkOver();
  return { email: claim.email, updateTo: typeof claim.updateTo === 'string' ? claim.updateTo : undefined, sentAtSeconds: claim.iat ?? 0 };
}

/** The refusal of a link that we did not sign, or that is too old. */
export function linkOver(): ApiError {
  return new ApiError('invalid', 'This link is no longer valid. Request a new one.');
}

/**
 * Returns the cookie value that marks the browser of a sign-up. A link opened in another browser asks for the password. Otherwise an
 * attacker could sign up with someone else's address and their own password, and wait for the victim to open the link. A sign-up with
 * an existing address gets a random id, so its mark is worthless.
 */
export function signUpMark(personId: string, secret: string): string {
  return createHmac('sha256', secret).update(`sign-up:${personId}`).digest('base64url');
}

/** Whether a cookie value is the sign-up mark of this person. */
export function isSignUpMark(mark: string | undefined, personId: string, secret: string): boolean {
  const [given, expected] = [Buffer.from(mark ?? ''), Buffer.from(signUpMark(personId, secret))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Whether the password belongs to the person with this address. Takes the same time if there is no such person. */
export async function isPasswordOf(library: Library, email: string, password: string): Promise<boolean> {
  const context = await library.$context;
  const found = await context.internalAdapter.findUserByEmail(email, { includeAccounts: true });
  const hash = found?.accounts.find((account) => account.providerId === 'credential')?.password;
  if (typeof hash === 'string') return context.password.verify({ hash, password });
  await context.password.hash(password);
  return false;
}

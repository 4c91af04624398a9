import { createHmac, timingSafeEqual } from 'node:crypto';
import { verifyJWT } from 'better-auth/crypto';
import { ApiError } from '../api-error.ts';
import type { Library } from './library.ts';

/** What a link for the verification of an address says. */
export interface VerificationClaim {
  readonly email: string;
  /** The new address, when it is to be changed. */
  readonly updateTo: string | undefined;
}

/** Reads a link's token; what we did not sign, or what is too old, is refused. */
export async function readVerification(token: string, secret: string): Promise<VerificationClaim> {
  const claim = await verifyJWT<{ email?: unknown; updateTo?: unknown }>(token, secret);
  if (typeof claim?.email !== 'string') throw new ApiError('invalid', 'This link is no longer valid. Request a new one.');
  return { email: claim.email, updateTo: typeof claim.updateTo === 'string' ? claim.updateTo : undefined };
}

/**
 * Marks the browser in which somebody signs up. A link that is opened elsewhere asks for the password: else somebody
 * could sign up with a stranger's address and a password of their own, and wait until the stranger opens the link.
 * Whoever signs up with a known address is told an id that is nobody's, so their mark counts for nothing.
 */
export function signUpMark(personId: string, secret: string): string {
  return createHmac('sha256', secret).update(`sign-up:${personId}`).digest('base64url');
}

export function isSignUpMark(mark: string | undefined, personId: string, secret: string): boolean {
  const [given, expected] = [Buffer.from(mark ?? ''), Buffer.from(signUpMark(personId, secret))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Whether a password is that of the person with this address; takes as long when there is no such person. */
export async function isPasswordOf(library: Library, email: string, password: string): Promise<boolean> {
  const context = await library.$context;
  const found = await context.internalAdapter.findUserByEmail(email, { includeAccounts: true });
  const hash = found?.accounts.find((account) => account.providerId === 'credential')?.password;
  if (typeof hash === 'string') return context.password.verify({ hash, password });
  await context.password.hash(password);
  return false;
}

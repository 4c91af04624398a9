import { passkey } from '@better-auth/passkey';
import type { BetterAuthOptions } from 'better-auth';
import { APIError, isAPIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins';
import type { Kysely } from 'kysely';
import type { Dialect } from '../../database/dialect.ts';
import { makeId } from '../../ids.ts';
import { CREDENTIAL_TABLE, PASSKEY_SCHEMA, SESSION_TABLE, TWO_FACTOR_SCHEMA, USER_TABLE, VERIFICATION_TABLE } from './tables.ts';
import { knownProviders, linkingRules } from './providers.ts';
import type { DashboardSettings } from '../messages.ts';

/** Where we put the caller's address for the library, which else believes what callers write themselves. */
export const ADDRESS_HEADER = 'x-tollgate-client-address';
export const PASSWORD_LENGTH_MIN = 10;
export const PASSWORD_LENGTH_MAX = 256;
/** A session ends after this, however often it is used. */
const SESSION_SECONDS = 7 * 24 * 3600;
/** Ways to sign in can only be added and taken away this soon after signing in. */
export const FRESH_SECONDS = 3600;
const LINK_SECONDS = 3600;

const ID_PREFIXES: Readonly<Record<string, string>> = {
  user: 'person',
  session: 'session',
  account: 'cred',
  verification: 'verify',
  twoFactor: 'factor',
  passkey: 'passkey',
};

/** What the library for accounts is told. */
interface OptionsSetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: Kysely<unknown>;
  readonly dialect: Dialect;
}

/** How people sign up and in: never its API keys, never sessions that are believed without looking them up. */
export function authOptions({ settings, secret, database, dialect }: OptionsSetup) {
  const { origin, hostname } = new URL(settings.publicUrl);
  return {
    appName: 'Tollgate',
    baseURL: settings.publicUrl,
    basePath: '/api/auth',
    secret,
    // Signing up hashes a password inside the transaction: on the embedded database nobody else could write meanwhile.
    database: { db: database, type: dialect, transaction: dialect === 'postgres' },
    trustedOrigins: [origin],
    user: {
      ...USER_TABLE,
      changeEmail: { enabled: true },
      additionalFields: { accountId: { type: 'string', required: false, input: false, fieldName: 'account_id' } },
    },
    session: {
      ...SESSION_TABLE,
      expiresIn: SESSION_SECONDS,
      freshAge: FRESH_SECONDS,
      disableSessionRefresh: true,
      cookieCache: { enabled: false },
    },
    account: { ...CREDENTIAL_TABLE, accountLinking: linkingRules(settings.signInProviders), updateAccountOnSignIn: false },
    socialProviders: knownProviders(settings.signInProviders),
    onAPIError: { errorURL: `${settings.publicUrl}/sign-in`, onError: passOn },
    verification: { ...VERIFICATION_TABLE, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      revokeSessionsOnPasswordReset: true,
      // With mail, the answer to a sign-up comes by mail, so that it does not tell who has an account.
      requireEmailVerification: verifiesFirst(settings),
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    plugins: [
      twoFactor({ issuer: 'Tollgate', schema: TWO_FACTOR_SCHEMA }),
      passkey({
        rpName: 'Tollgate',
        rpID: hostname,
        origin,
        schema: PASSKEY_SCHEMA,
        // Nobody says who they are before they sign in with one.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: { afterVerification: ({ verification }) => refuseTouch(verification.registrationInfo?.userVerified) },
        authentication: { afterVerification: ({ verification }) => refuseTouch(verification.authenticationInfo.userVerified) },
      }),
    ],
    advanced: {
      ...cookieOptions(origin),
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: ({ model }: { model: string }) => makeId(ID_PREFIXES[model] ?? 'auth') },
    },
  } satisfies BetterAuthOptions;
}

/** A passkey stands for the password and the second factor: one that does not ask who holds it would let in whoever finds it. */
function refuseTouch(isVerified: boolean | undefined): void {
  if (isVerified === true) return;
  const message = 'This passkey did not check that it is you. Protect it with a PIN or a fingerprint, or use another one.';
  throw new APIError('BAD_REQUEST', { code: 'PASSKEY_NOT_VERIFIED', message });
}

/** Errors that are no answers are thrown on, to our own log, which keeps no texts. The library would print them with whatever they say. */
function passOn(error: unknown): void {
  if (!isAPIError(error)) throw error;
}

/** Whether people get in only after they verified their address: where they can be written to. */
export function verifiesFirst({ smtpUrl }: DashboardSettings): boolean {
  return smtpUrl !== undefined;
}

/** What the names of our cookies begin with. Browsers take `__Host-` from this very host alone, and only encrypted. */
export function cookiePrefixOf(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-tollgate' : 'tollgate';
}

/** The library's own way to secure cookies knows the weaker prefix only. */
function cookieOptions(origin: string) {
  const secure = origin.startsWith('https:');
  return {
    cookiePrefix: cookiePrefixOf(origin),
    useSecureCookies: false,
    defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure },
  } as const;
}

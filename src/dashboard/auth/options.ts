import { passkey } from '@better-auth/passkey';
import type { BetterAuthOptions } from 'better-auth';
import { APIError, isAPIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins';
import type { Kysely } from 'kysely';
import type { Dialect } from '../../database/dialect.ts';
import { makeId } from '../../ids.ts';
import { CREDENTIAL_TABLE, PASSKEY_SCHEMA, SESSION_TABLE, TWO_FACTOR_SCHEMA, USER_TABLE, VERIFICATION_TABLE } from './tables.ts';
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './passwords.ts';
import { knownProviders, linkingRules } from './providers.ts';
import type { DashboardSettings } from '../messages.ts';

/** The header that gives the library the client's address. Otherwise it would trust headers that clients set. */
export const ADDRESS_HEADER = 'x-tollgate-client-address';
/** A session expires after this, however often it is used. */
const SESSION_SECONDS = 7 * 24 * 3600;
/** Ways to sign in can be added and removed only this soon after signing in. */
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

/** What the library's options depend on. */
interface OptionsSetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: Kysely<unknown>;
  readonly dialect: Dialect;
}

/** Returns the library's options. Its API keys are not used, and every session is looked up in the database. */
export function authOptions({ settings, secret, database, dialect }: OptionsSetup) {
  const { origin, hostname } = new URL(settings.publicUrl);
  return {
    appName: 'Tollgate',
    baseURL: settings.publicUrl,
    basePath: '/api/auth',
    secret,
    // Sign-up hashes a password inside the transaction, which would block all other writers on the embedded database.
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
      additionalFields: { passedSecondFactor: { type: 'boolean', required: false, input: false, fieldName: 'passed_second_factor' } },
      cookieCache: { enabled: false },
    },
    account: { ...CREDENTIAL_TABLE, accountLinking: linkingRules(settings.signInProviders), updateAccountOnSignIn: false },
    socialProviders: knownProviders(settings.signInProviders),
    onAPIError: { errorURL: `${settings.publicUrl}/sign-in`, onError: rethrow },
    verification: { ...VERIFICATION_TABLE, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      revokeSessionsOnPasswordReset: true,
      // With email, the outcome of a sign-up is emailed, so the response does not reveal who has an account.
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
        // Passkey sign-in starts without an email address, so the key must be discoverable.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: { afterVerification: ({ verification }) => refuseUnverified(verification.registrationInfo?.userVerified) },
        authentication: { afterVerification: ({ verification }) => refuseUnverified(verification.authenticationInfo.userVerified) },
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

/** Refuses a passkey that did not verify its holder. It replaces password and second factor, so anyone who finds it could sign in. */
function refuseUnverified(isVerified: boolean | undefined): void {
  if (isVerified === true) return;
  const message = 'This passkey did not check that it is you. Protect it with a PIN or a fingerprint, or use another one.';
  throw new APIError('BAD_REQUEST', { code: 'PASSKEY_NOT_VERIFIED', message });
}

/** Rethrows unexpected errors, so that our own log records them without their messages. The library would print them in full. */
function rethrow(error: unknown): void {
  if (!isAPIError(error)) throw error;
}

/** Whether people must verify their address before they can sign in. True if emails can be sent. */
export function verifiesFirst({ smtpUrl }: DashboardSettings): boolean {
  return smtpUrl !== undefined;
}

/** Returns the prefix of our cookie names. Browsers accept `__Host-` cookies only from this exact host and only over HTTPS. */
export function cookiePrefixOf(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-tollgate' : 'tollgate';
}

/** Returns the cookie options. The library's own secure mode supports only the weaker `__Secure-` prefix. */
function cookieOptions(origin: string) {
  const secure = origin.startsWith('https:');
  return {
    cookiePrefix: cookiePrefixOf(origin),
    useSecureCookies: false,
    defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure },
  } as const;
}

import { passkey } from '@better-auth/passkey';
import type { BetterAuthOptions } from 'better-auth';
import { twoFactor } from 'better-auth/plugins';
import type { Kysely } from 'kysely';
import type { Dialect } from '../database/dialect.ts';
import { makeId } from '../ids.ts';
import { CREDENTIAL_TABLE, PASSKEY_SCHEMA, SESSION_TABLE, TWO_FACTOR_SCHEMA, USER_TABLE, VERIFICATION_TABLE } from './auth-tables.ts';
import type { DashboardSettings } from './messages.ts';

/** Where we put the caller's address for the library, which else believes what callers write themselves. */
export const ADDRESS_HEADER = 'x-tollgate-client-address';
/** A session ends after this, however often it is used. */
const SESSION_SECONDS = 7 * 24 * 3600;
const PASSWORD_LENGTH_MIN = 10;
const PASSWORD_LENGTH_MAX = 256;
const ID_PREFIXES: Readonly<Record<string, string>> = {
  user: 'person',
  session: 'session',
  account: 'cred',
  verification: 'verify',
  twoFactor: 'factor',
  passkey: 'passkey',
};

/** What the library for accounts is told. */
export interface AuthSetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: Kysely<unknown>;
  readonly dialect: Dialect;
}

/** How people sign up and in: never its API keys, never sessions that are believed without looking them up. */
export function authOptions({ settings, secret, database, dialect }: AuthSetup) {
  const { publicUrl } = settings;
  return {
    appName: 'Tollgate',
    baseURL: publicUrl,
    basePath: '/api/auth',
    secret,
    database: { db: database, type: dialect, transaction: true },
    trustedOrigins: [new URL(publicUrl).origin],
    user: {
      ...USER_TABLE,
      additionalFields: { accountId: { type: 'string', required: false, input: false, returned: true, fieldName: 'account_id' } },
    },
    session: { ...SESSION_TABLE, expiresIn: SESSION_SECONDS, disableSessionRefresh: true, cookieCache: { enabled: false } },
    account: { ...CREDENTIAL_TABLE, accountLinking: { enabled: false } },
    verification: { ...VERIFICATION_TABLE, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      revokeSessionsOnPasswordReset: true,
      disableSignUp: settings.signUp === 'closed',
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    plugins: [
      twoFactor({ issuer: 'Tollgate', schema: TWO_FACTOR_SCHEMA }),
      passkey({ rpName: 'Tollgate', rpID: new URL(publicUrl).hostname, origin: new URL(publicUrl).origin, schema: PASSKEY_SCHEMA }),
    ],
    advanced: {
      cookiePrefix: 'tollgate',
      useSecureCookies: publicUrl.startsWith('https:'),
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: ({ model }: { model: string }) => makeId(ID_PREFIXES[model] ?? 'auth') },
    },
  } satisfies BetterAuthOptions;
}

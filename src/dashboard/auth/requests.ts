import { z } from 'zod';
import { lineOfText } from '../../accounts/line-of-text.ts';
import { PROVIDER_IDS, type ProviderId } from '../../accounts/sign-in-settings.ts';
import { HOUR_MS, MINUTE_MS } from '../../durations.ts';
import { ApiError } from '../api-error.ts';
import { isCommonPassword, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './passwords.ts';
import type { RateRule } from '../rate-limits.ts';
import { isStolenPassword } from './stolen-passwords.ts';
import { check } from '../validate.ts';

/** A route of the authentication library. Only the routes listed below exist under `/api/auth`. */
export interface AuthPath {
  /** The fields of the body that are passed on. All others are dropped. */
  readonly body?: z.ZodType<Readonly<Record<string, unknown>>>;
  /** Requires a session. */
  readonly needsSession?: true;
  /** Requires a recent sign-in, because the route changes how a person signs in. */
  readonly needsFresh?: true;
  /** In the order in which they count. That of the network comes first. */
  readonly limits?: readonly Limit[];
  /** Takes a code that completes a sign-in. */
  readonly isSecondFactor?: true;
  /** The change that is reported to the person by email, in case it was not them. */
  readonly emailsAbout?: string;
  /** The minimum response time, so that the timing reveals nothing. */
  readonly floorMs?: number;
  /** The step in a sign-in through a provider. The route does not exist if no provider is configured. */
  readonly providerStep?: 'sign-in' | 'link' | { readonly from: ProviderId };
}

/** A rule, and what its attempts are counted by. */
interface Limit {
  readonly rule: RateRule;
  readonly per: 'network' | 'email' | 'email and network' | 'person';
}

const QUARTER_MS = 15 * MINUTE_MS;

/** Attempts for one account from one network or known device. Reset by a successful sign-in. */
export const SIGN_IN: RateRule = { kind: 'sign-in', max: 10, windowMs: QUARTER_MS };
const SIGN_IN_LIMITS: readonly Limit[] = [
  { rule: { kind: 'sign-in-network', max: 60, windowMs: QUARTER_MS }, per: 'network' },
  { rule: SIGN_IN, per: 'email and network' },
  { rule: { kind: 'sign-in-email', max: 100, windowMs: HOUR_MS, otherwise: ', or set a new password' }, per: 'email' },
];
/** Sign-ups from one network. */
export const SIGN_UP: RateRule = { kind: 'sign-up', max: 20, windowMs: HOUR_MS };
/** Emails that one address may be sent. The window is no longer than links are valid, so one that was sent in it still works. */
export const EMAILS_PER_ADDRESS: RateRule = { kind: 'letter', max: 5, windowMs: HOUR_MS, otherwise: ', or use the link in the last email' };
const EMAILS_PER_NETWORK: Limit = { rule: { kind: 'letter-network', max: 20, windowMs: HOUR_MS }, per: 'network' };
const EMAIL_LIMITS: readonly Limit[] = [EMAILS_PER_NETWORK, { rule: EMAILS_PER_ADDRESS, per: 'email' }];
/** Counted apart, so that no other email takes the place of a link for a new password. */
const RESET_LIMITS: readonly Limit[] = [EMAILS_PER_NETWORK, { rule: { ...EMAILS_PER_ADDRESS, kind: 'reset-letter' }, per: 'email' }];
const CODE_LIMITS: readonly Limit[] = [{ rule: { kind: 'code', max: 30, windowMs: QUARTER_MS }, per: 'network' }];
/** High, because nothing can be guessed here, and a whole office may sign in at once in the morning. */
const PROVIDER_LIMITS: readonly Limit[] = [{ rule: { kind: 'provider', max: 200, windowMs: QUARTER_MS }, per: 'network' }];
/** Attempts of a signed-in person at actions that ask for a password or a code. */
export const SENSITIVE: RateRule = { kind: 'sensitive', max: 20, windowMs: QUARTER_MS };
const SENSITIVE_LIMITS: readonly Limit[] = [{ rule: SENSITIVE, per: 'person' }];

const EMAIL_FLOOR_MS = 500;
const SIGN_UP_FLOOR_MS = 700;

/** An email address, in lower case. */
export const emailSchema = z.email('is not an email address').max(254).toLowerCase();
/** A person's name. */
export const nameSchema = lineOfText.max(100);
const password = z.string().max(PASSWORD_LENGTH_MAX, `must have at most ${PASSWORD_LENGTH_MAX} characters`);
/** A password that someone chooses. */
export const newPasswordSchema = password.min(PASSWORD_LENGTH_MIN, `must have at least ${PASSWORD_LENGTH_MIN} characters`);
const token = z.string().max(2000);
const code = z.string().trim().max(64);
const invitation = z.string().max(100).optional();
const provider = z.enum(PROVIDER_IDS);
/** A path on this site. */
const page = z
  .string()
  .max(2000)
  // Browsers ignore tabs and line breaks, so a path with one could become a URL that starts with two slashes.
  .regex(/^\/(?![/\\])\P{Cc}*$/u, 'must be a path');
/** The browser's passkey response. The library validates it, after looking up its id in the database. */
const passkeyResponse = z.looseObject({ id: z.string().max(2000) });

/** The sign-up form. */
export const signUpSchema = z.object({
  name: nameSchema.default(''),
  email: emailSchema,
  password: newPasswordSchema,
  invitation,
});

/** Every route of the library that is reachable, by method and path. */
export const AUTH_PATHS: Readonly<Record<string, AuthPath>> = {
  'GET /get-session': {},
  'POST /sign-out': {},
  'POST /sign-up/email': { body: signUpSchema, limits: [{ rule: SIGN_UP, per: 'network' }], floorMs: SIGN_UP_FLOOR_MS },
  'POST /sign-in/email': { body: z.object({ email: emailSchema, password }), limits: SIGN_IN_LIMITS },
  'POST /sign-in/social': {
    body: z.object({ provider, to: page.optional(), invitation }),
    limits: PROVIDER_LIMITS,
    providerStep: 'sign-in',
  },
  'POST /link-social': {
    body: z.object({ provider }),
    needsSession: true,
    needsFresh: true,
    limits: SENSITIVE_LIMITS,
    providerStep: 'link',
  },
  ...Object.fromEntries(
    PROVIDER_IDS.map((from): [string, AuthPath] => [`GET /callback/${from}`, { limits: PROVIDER_LIMITS, providerStep: { from } }]),
  ),
  'POST /send-verification-email': { body: z.object({ email: emailSchema }), limits: EMAIL_LIMITS, floorMs: EMAIL_FLOOR_MS },
  'POST /request-password-reset': { body: z.object({ email: emailSchema }), limits: RESET_LIMITS, floorMs: EMAIL_FLOOR_MS },
  'POST /reset-password': { body: z.object({ token, newPassword: newPasswordSchema }), limits: CODE_LIMITS },
  'POST /change-email': {
    body: z.object({ newEmail: emailSchema }),
    needsSession: true,
    // Control of the address is control of the account, because password resets are sent there.
    needsFresh: true,
    limits: [...SENSITIVE_LIMITS, ...EMAIL_LIMITS],
    floorMs: EMAIL_FLOOR_MS,
  },
  'POST /change-password': {
    body: z
      .object({ currentPassword: password, newPassword: newPasswordSchema })
      .transform((body) => ({ ...body, revokeOtherSessions: true })),
    needsSession: true,
    limits: SENSITIVE_LIMITS,
    emailsAbout: 'Your password was changed',
  },
  'POST /two-factor/verify-totp': { body: z.object({ code }), limits: CODE_LIMITS, isSecondFactor: true },
  'POST /two-factor/verify-backup-code': { body: z.object({ code }), limits: CODE_LIMITS, isSecondFactor: true },
  'POST /two-factor/disable': {
    body: z.object({ password }),
    needsSession: true,
    limits: SENSITIVE_LIMITS,
    emailsAbout: 'Two-factor authentication was turned off',
  },
  'POST /two-factor/generate-backup-codes': { body: z.object({ password }), needsSession: true, limits: SENSITIVE_LIMITS },
  'GET /passkey/generate-register-options': { needsSession: true, limits: SENSITIVE_LIMITS },
  'POST /passkey/verify-registration': {
    body: z.object({ response: passkeyResponse, name: nameSchema.optional() }),
    needsSession: true,
    limits: SENSITIVE_LIMITS,
    emailsAbout: 'A passkey was added',
  },
  'GET /passkey/generate-authenticate-options': { limits: CODE_LIMITS },
  'POST /passkey/verify-authentication': { body: z.object({ response: passkeyResponse }), limits: CODE_LIMITS },
};

/** Refuses passwords that are easy to guess or appear in lists of leaked passwords. */
export async function refuseWeakPassword(chosen: unknown, email: string): Promise<void> {
  if (typeof chosen !== 'string') return;
  const choose = 'Choose another one, such as a few unusual words.';
  if (isCommonPassword(chosen, email)) throw new ApiError('invalid', `This password is too easy to guess. ${choose}`, 'password');
  if (await isStolenPassword(chosen))
    throw new ApiError('invalid', `This password appears in lists of leaked passwords. ${choose}`, 'password');
}

/** Reads and validates the body of a request. Only JSON is accepted, because a form on another site cannot send it. */
export async function readBody(request: Request, { body: schema }: AuthPath): Promise<Readonly<Record<string, unknown>>> {
  if (schema === undefined) return {};
  if (!/^application\/json\b/iu.test(request.headers.get('content-type') ?? ''))
    throw new ApiError('invalid', 'Send JSON with the header content-type: application/json.');
  return check(await request.json().catch(() => undefined), schema);
}

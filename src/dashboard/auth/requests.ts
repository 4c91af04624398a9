import { z } from 'zod';
import { lineOfText } from '../../accounts/line-of-text.ts';
import { PROVIDER_IDS, type ProviderId } from '../../accounts/sign-in-settings.ts';
import { HOUR_MS, MINUTE_MS } from '../../durations.ts';
import { ApiError } from '../api-error.ts';
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './options.ts';
import { isCommonPassword } from './passwords.ts';
import type { RateRule } from '../rate-limits.ts';
import { isStolenPassword } from './stolen-passwords.ts';
import { check } from '../validate.ts';

/** What the library for accounts may be asked. Everything else under `/api/auth` is not there. */
export interface AuthPath {
  /** What is passed on of a request's body, and nothing else. */
  readonly body?: z.ZodType<Readonly<Record<string, unknown>>>;
  /** Only for people who are signed in. */
  readonly needsSession?: true;
  /** Only for people who have just signed in, because it changes how they can. */
  readonly needsFresh?: true;
  readonly limits?: readonly Limit[];
  /** What the person is told by mail when it worked, in case it was not them. */
  readonly tells?: string;
  /** The answer takes at least so long, so that its time tells nothing. */
  readonly floorMs?: number;
  /** What it has to do with those who let people in beside us; there is no such address where nobody does. */
  readonly door?: 'sign-in' | 'link' | { readonly from: ProviderId };
}

/** A rule, and whose tries it counts. */
interface Limit {
  readonly rule: RateRule;
  readonly per: 'network' | 'email' | 'email and network' | 'person';
}

const QUARTER_MS = 15 * MINUTE_MS;

/** Tries at one account from one place; forgotten when one succeeds. */
export const SIGN_IN: RateRule = { kind: 'sign-in', max: 10, windowMs: QUARTER_MS };
const SIGN_IN_LIMITS: readonly Limit[] = [
  { rule: SIGN_IN, per: 'email and network' },
  { rule: { kind: 'sign-in-email', max: 100, windowMs: HOUR_MS }, per: 'email' },
  { rule: { kind: 'sign-in-network', max: 60, windowMs: QUARTER_MS }, per: 'network' },
];
export const SIGN_UP: RateRule = { kind: 'sign-up', max: 20, windowMs: HOUR_MS };
export const LETTER: RateRule = { kind: 'letter', max: 5, windowMs: HOUR_MS };
const LETTER_LIMITS: readonly Limit[] = [
  { rule: LETTER, per: 'email' },
  { rule: { kind: 'letter-network', max: 20, windowMs: HOUR_MS }, per: 'network' },
];
const CODE_LIMITS: readonly Limit[] = [{ rule: { kind: 'code', max: 30, windowMs: QUARTER_MS }, per: 'network' }];
/** Nothing can be guessed on the way to a provider and back, and a whole office may go it in the morning. */
const PROVIDER_LIMITS: readonly Limit[] = [{ rule: { kind: 'provider', max: 200, windowMs: QUARTER_MS }, per: 'network' }];
/** What asks for a password or code of somebody who is signed in. */
export const SENSITIVE: RateRule = { kind: 'sensitive', max: 20, windowMs: QUARTER_MS };
const SENSITIVE_LIMITS: readonly Limit[] = [{ rule: SENSITIVE, per: 'person' }];

const LETTER_FLOOR_MS = 500;
const SIGN_UP_FLOOR_MS = 700;

export const emailSchema = z.email('is not an email address').max(254).toLowerCase();
export const nameSchema = lineOfText.max(100);
const password = z.string().max(PASSWORD_LENGTH_MAX, `must have at most ${PASSWORD_LENGTH_MAX} characters`);
export const newPasswordSchema = password.min(PASSWORD_LENGTH_MIN, `must have at least ${PASSWORD_LENGTH_MIN} characters`);
const token = z.string().max(2000);
const code = z.string().trim().max(64);
const invitation = z.string().max(100).optional();
const provider = z.enum(PROVIDER_IDS);
/** A page of this site. */
const page = z
  .string()
  .max(2000)
  // Browsers pass over tabs and line ends, and would find two slashes.
  .regex(/^\/(?![/\\])\P{Cc}*$/u, 'must be a path');
/** What browsers tell of a passkey; the library checks it. */
const passkeyResponse = z.record(z.string(), z.unknown());

export const signUpSchema = z.object({
  name: nameSchema.default(''),
  email: emailSchema,
  password: newPasswordSchema,
  invitation,
});

export const AUTH_PATHS: Readonly<Record<string, AuthPath>> = {
  'GET /get-session': {},
  'POST /sign-out': {},
  'POST /sign-up/email': { body: signUpSchema, limits: [{ rule: SIGN_UP, per: 'network' }], floorMs: SIGN_UP_FLOOR_MS },
  'POST /sign-in/email': { body: z.object({ email: emailSchema, password }), limits: SIGN_IN_LIMITS },
  'POST /sign-in/social': { body: z.object({ provider, to: page.optional(), invitation }), limits: PROVIDER_LIMITS, door: 'sign-in' },
  'POST /link-social': { body: z.object({ provider }), needsSession: true, needsFresh: true, limits: SENSITIVE_LIMITS, door: 'link' },
  ...Object.fromEntries(
    PROVIDER_IDS.map((from): [string, AuthPath] => [`GET /callback/${from}`, { limits: PROVIDER_LIMITS, door: { from } }]),
  ),
  'POST /send-verification-email': { body: z.object({ email: emailSchema }), limits: LETTER_LIMITS, floorMs: LETTER_FLOOR_MS },
  'POST /request-password-reset': { body: z.object({ email: emailSchema }), limits: LETTER_LIMITS, floorMs: LETTER_FLOOR_MS },
  'POST /reset-password': { body: z.object({ token, newPassword: newPasswordSchema }), limits: CODE_LIMITS },
  'POST /change-email': {
    body: z.object({ newEmail: emailSchema }),
    needsSession: true,
    // Whoever has the address has the account: a new password is sent there.
    needsFresh: true,
    limits: [...SENSITIVE_LIMITS, ...LETTER_LIMITS],
    floorMs: LETTER_FLOOR_MS,
  },
  'POST /change-password': {
    body: z
      .object({ currentPassword: password, newPassword: newPasswordSchema })
      .transform((body) => ({ ...body, revokeOtherSessions: true })),
    needsSession: true,
    limits: SENSITIVE_LIMITS,
    tells: 'Your password was changed',
  },
  'POST /two-factor/verify-totp': { body: z.object({ code }), limits: CODE_LIMITS },
  'POST /two-factor/verify-backup-code': { body: z.object({ code }), limits: CODE_LIMITS },
  'POST /two-factor/disable': {
    body: z.object({ password }),
    needsSession: true,
    limits: SENSITIVE_LIMITS,
    tells: 'Two-factor authentication was turned off',
  },
  'POST /two-factor/generate-backup-codes': { body: z.object({ password }), needsSession: true, limits: SENSITIVE_LIMITS },
  'GET /passkey/generate-register-options': { needsSession: true, limits: SENSITIVE_LIMITS },
  'POST /passkey/verify-registration': {
    body: z.object({ response: passkeyResponse, name: nameSchema.optional() }),
    needsSession: true,
    limits: SENSITIVE_LIMITS,
    tells: 'A passkey was added',
  },
  'GET /passkey/generate-authenticate-options': { limits: CODE_LIMITS },
  'POST /passkey/verify-authentication': { body: z.object({ response: passkeyResponse }), limits: CODE_LIMITS },
};

/** Refuses a password that anybody would try first, or that is in the lists of those who guess. */
export async function refuseKnownPassword(chosen: unknown, email: string): Promise<void> {
  if (typeof chosen !== 'string') return;
  const choose = 'Choose another one, such as a few unusual words.';
  if (isCommonPassword(chosen, email)) throw new ApiError('invalid', `This password is too easy to guess. ${choose}`, 'password');
  if (await isStolenPassword(chosen))
    throw new ApiError('invalid', `This password appears in lists of leaked passwords. ${choose}`, 'password');
}

/** The body of a request, checked; only JSON is taken, which no form of another site can send. */
export async function readBody(request: Request, { body: schema }: AuthPath): Promise<Readonly<Record<string, unknown>>> {
  if (schema === undefined) return {};
  if (!/^application\/json\b/iu.test(request.headers.get('content-type') ?? ''))
    throw new ApiError('invalid', 'Send JSON with the header content-type: application/json.');
  return check(await request.json().catch(() => undefined), schema);
}

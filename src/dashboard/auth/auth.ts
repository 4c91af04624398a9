import type { Kysely } from 'kysely';
import { Invitations } from '../../accounts/invitations.ts';
import { PROVIDER_IDS, type ProviderId } from '../../accounts/sign-in-settings.ts';
import type { OpenDatabase } from '../../database/connect.ts';
import { networkOf } from '../../http/address-range.ts';
import { clientAddress, parseNetworks } from '../../http/client-address.ts';
import { ApiError, TooManyError } from '../api-error.ts';
import { admitCode, forgetCodes, refuseUsedCode } from './codes.ts';
import { passwordHashing, type Hashing } from './hashing.ts';
import { readDevice } from './known-devices.ts';
import { ProviderSignIn } from './provider-sign-in.ts';
import { openLibrary, type Library } from './library.ts';
import { ADDRESS_HEADER, cookiePrefixOf, verifiesFirst } from './options.ts';
import { AUTH_PATHS, EMAILS_PER_ADDRESS, readBody, refuseWeakPassword, SIGN_IN, type AuthPath } from './requests.ts';
import { rehash } from './rehash.ts';
import { readSecret } from './secret.ts';
import { endIdleSessions, findSession, NOT_FRESH, refuseStale, type Session } from './sessions.ts';
import { isPasswordOf, isSignUpMark, readVerification, signUpMark, type VerificationClaim } from './verify.ts';
import { signInChangedEmail } from '../emails.ts';
import type { Mail } from '../mail.ts';
import type { DashboardSettings, Reporting } from '../messages.ts';
import { claimAccount, isOperator } from '../people/people.ts';
import type { Person } from '../person.ts';
import { RateLimits } from '../rate-limits.ts';

/** Sign-up, sign-in and sessions. */
export interface Auth {
  /** The authentication library, for routes that read or change its data. */
  readonly library: Library;
  readonly limits: RateLimits;
  /** Answers every request under `/api/auth`. */
  handle(request: Request, connectionAddress: string): Promise<Response>;
  /** Returns the person of the session cookie. Throws if their account is blocked until they verify their address. */
  findPerson(headers: Headers): Promise<Person | undefined>;
  /** Returns the session of the cookie, whether or not the person has an account yet. */
  findSession(headers: Headers): Promise<Session | undefined>;
  /** Returns the network of a request, for rate limits. */
  networkOf(headers: Headers, connectionAddress: string): string;
  /** Returns the device of a request, if the owner of the address has signed in on it. */
  knownDevice(headers: Headers, email: string): string | undefined;
  /** Reads the token of a verification link. Throws if we did not sign it or it has expired. */
  readVerification(token: string): Promise<VerificationClaim>;
  /** Whether the person signed up in the browser with this cookie. */
  signedUpHere(cookie: string | undefined, personId: string): boolean;
  isPasswordOf(email: string, password: string): Promise<boolean>;
  /** Adds the client's address, which the library stores with the session. */
  withAddress(headers: Headers, connectionAddress: string): Headers;
  close(): Promise<void>;
}

interface AuthSetup extends Pick<Reporting, 'fail'> {
  readonly settings: DashboardSettings;
  readonly database: OpenDatabase;
  readonly mail: Mail;
  readonly hashing?: Hashing;
}

/** Lifetime of the cookie that marks the browser of a sign-up. */
const SIGN_UP_SECONDS = 24 * 3600;

/** Opens authentication on either database. */
export async function openAuth({ settings, database, mail, fail, hashing = passwordHashing }: AuthSetup): Promise<Auth> {
  const { kysely } = database;
  const own = await openForLibrary(settings, database);
  const secret = settings.secret ?? (await readSecret(kysely));
  const limits = new RateLimits(kysely);
  const setup = { settings, secret, database, own: own.kysely, mail, limits, hashing };
  const library = openLibrary(setup);
  const providerSignIn = new ProviderSignIn({
    settings,
    library,
    fail,
    openWith: (identityProvider) => openLibrary({ ...setup, identityProvider }),
  });
  const trusted = parseNetworks(settings.trustedProxies) ?? [];
  const addressOf = (headers: Headers, connectionAddress: string): string => clientAddress(connectionAddress, headers, trusted);
  const auth: Auth = {
    library,
    limits,
    handle: (request, connectionAddress) =>
      answer({ auth, providerSignIn, mail, settings, kysely, secret, hashing }, request, connectionAddress),
    findSession: (headers) => findSession(library, kysely, headers),
    findPerson: async (headers) => {
      const session = await findSession(library, kysely, headers);
      if (session === undefined) return undefined;
      const accountId = session.accountId ?? (await claimAccount(kysely, { ...session, id: session.userId }));
      if (accountId !== undefined) return { ...session, accountId, isOperator: await isOperator(kysely, accountId) };
      throw new ApiError('forbidden', `There is already an account for ${session.email}. Verify the address to use it.`);
    },
    networkOf: (headers, connectionAddress) => networkOf(addressOf(headers, connectionAddress)),
    knownDevice: (headers, email) => readDevice(headers, { email, publicUrl: settings.publicUrl, secret }),
    readVerification: (token) => readVerification(token, secret),
    signedUpHere: (cookie, personId) => isSignUpMark(cookie, personId, secret),
    isPasswordOf: (email, password) => isPasswordOf(library, email, password),
    withAddress: (headers, connectionAddress) => {
      const withClient = new Headers(headers);
      withClient.set(ADDRESS_HEADER, addressOf(headers, connectionAddress));
      return withClient;
    },
    close: () => own.close(),
  };
  return auth;
}

/**
 * Opens a connection that returns integers as numbers, as the library expects. The PostgreSQL connection already does so for all but big
 * integers, and the library's tables have none.
 */
async function openForLibrary(
  { databasePath }: DashboardSettings,
  { kysely, dialect }: OpenDatabase,
): Promise<{ readonly kysely: Kysely<unknown>; close(): Promise<void> }> {
  if (dialect === 'postgres') return { kysely: kysely as Kysely<unknown>, close: async () => undefined };
  const own = (await import('../../database/kysely.ts')).openForeignKysely(databasePath);
  return { kysely: own, close: () => own.destroy() };
}

interface Context {
  readonly auth: Auth;
  readonly providerSignIn: ProviderSignIn;
  readonly mail: Mail;
  readonly settings: DashboardSettings;
  readonly kysely: OpenDatabase['kysely'];
  readonly secret: string;
  readonly hashing: Hashing;
}

/** A validated request for the library. */
interface CheckedRequest {
  readonly path: AuthPath;
  readonly request: Request;
  readonly connectionAddress: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly session: Session | undefined;
  readonly network: string;
  /** The email address in the body, or an empty string. */
  readonly email: string;
  /** The device, if the owner of the address has signed in on it. */
  readonly device: string | undefined;
}

/** Validates a request, counts it against its rate limits, and passes the allowed part of it to the library. */
async function answer(context: Context, request: Request, connectionAddress: string): Promise<Response> {
  const { auth, providerSignIn } = context;
  const name = `${request.method} ${new URL(request.url).pathname.slice('/api/auth'.length)}`;
  const path = Object.hasOwn(AUTH_PATHS, name) ? AUTH_PATHS[name] : undefined;
  if (path === undefined || (path.providerStep !== undefined && !providerSignIn.isConfigured))
    throw new ApiError('not_found', 'Nothing was found at this URL.');
  if (typeof path.providerStep === 'object')
    return finishAtProvider(context, { request, connectionAddress, path, provider: path.providerStep.from });
  const checked = await check(auth, path, request, connectionAddress);
  const { body, session, email } = checked;
  if (path.providerStep !== undefined)
    return describeRefusal(
      await providerSignIn.begin(auth.withAddress(request.headers, connectionAddress), departureOf(path.providerStep, body)),
    );
  const isSignUp = name === 'POST /sign-up/email';
  await refuseWeakPassword(body['newPassword'] ?? (isSignUp ? body['password'] : undefined), session?.email ?? email);
  const personId = path.isSecondFactor && session === undefined ? await admitCode(auth, request.headers) : undefined;
  const response = await (isSignUp ? signUp(context, checked) : atLeast(path.floorMs, () => callLibrary(auth, checked)));
  if (response.ok && personId !== undefined) await forgetCodes(auth, personId);
  if (response.ok && name === 'POST /two-factor/verify-totp' && session === undefined) await refuseUsedCode(auth, body['code'], response);
  if (!response.ok) return describeRefusal(response);
  await followUp(context, checked);
  return withoutTokens(response);
}

async function check(auth: Auth, path: AuthPath, request: Request, connectionAddress: string): Promise<CheckedRequest> {
  const body = await readBody(request, path);
  const session = await auth.findSession(request.headers);
  if (path.needsSession && session === undefined) throw new ApiError('unauthenticated', 'Sign in to do this.');
  const network = auth.networkOf(request.headers, connectionAddress);
  const email = readText(body['newEmail']) ?? readText(body['email']) ?? '';
  const device = auth.knownDevice(request.headers, email);
  const checked = { path, request, connectionAddress, body, session, network, email, device };
  await auth.limits.admit((path.limits ?? []).map(({ rule, per }) => [rule, subjectOf(per, checked)]));
  if (path.needsFresh && session !== undefined) refuseStale(session);
  return checked;
}

/** Runs after the library has succeeded: resets rate limits, ends idle sessions, renews an old hash, and emails the person about the change. */
async function followUp({ auth, mail, settings, kysely, hashing }: Context, checked: CheckedRequest): Promise<void> {
  const { path, session, email, body } = checked;
  if (path.limits?.some(({ rule }) => rule === SIGN_IN) === true) {
    await auth.limits.forget(SIGN_IN, subjectOf('email and network', checked));
    await endIdleSessions(kysely);
    // A failure must not block the sign-in. The next one tries again.
    await rehash(kysely, hashing, { email, password: String(body['password']) }).catch(() => undefined);
  }
  if (path.emailsAbout !== undefined && session !== undefined)
    mail.send(signInChangedEmail(session.email, path.emailsAbout, `${settings.publicUrl}/settings?tab=security`));
}

function departureOf(purpose: 'sign-in' | 'link', body: Readonly<Record<string, unknown>>): Parameters<ProviderSignIn['begin']>[1] {
  const provider = PROVIDER_IDS.find((id) => id === body['provider']);
  if (provider === undefined) throw new ApiError('invalid', 'provider: is missing', 'provider');
  return { purpose, provider, to: readText(body['to']), invitation: readText(body['invitation']) };
}

interface Return {
  readonly request: Request;
  readonly connectionAddress: string;
  readonly path: AuthPath;
  readonly provider: ProviderId;
}

/** Handles a return from a provider. Refusals redirect to a page with a message, because a browser navigates here. */
async function finishAtProvider(
  { auth, providerSignIn }: Context,
  { request, connectionAddress, path, provider }: Return,
): Promise<Response> {
  const network = auth.networkOf(request.headers, connectionAddress);
  try {
    await auth.limits.admit((path.limits ?? []).map(({ rule }) => [rule, network]));
  } catch (error) {
    if (error instanceof TooManyError) return providerSignIn.refuse(provider, 'too_many');
    throw error;
  }
  const headers = auth.withAddress(request.headers, connectionAddress);
  return providerSignIn.finish(headers, { provider, url: new URL(request.url) });
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns what an attempt is counted by. Known devices are counted apart from strangers, who could use up the attempts of others. */
function subjectOf(per: NonNullable<AuthPath['limits']>[number]['per'], { network, email, session, device }: CheckedRequest): string {
  switch (per) {
    case 'network':
      return network;
    case 'email':
      return device === undefined ? email : `${email} known`;
    case 'email and network':
      return `${email} ${device ?? network}`;
    case 'person':
      return session?.userId ?? network;
  }
}

/** Signs a person up. Where addresses are verified first, neither the timing nor the cookie reveals whether the address has an account. */
async function signUp({ auth, settings, kysely, secret }: Context, checked: CheckedRequest): Promise<Response> {
  const work = (): Promise<Response> => withAdmission(settings, new Invitations(kysely), checked, () => callLibrary(auth, checked));
  if (!verifiesFirst(settings)) return work();
  await auth.limits.admit([[EMAILS_PER_ADDRESS, checked.email]]);
  const response = await atLeast(checked.path.floorMs, work);
  if (response.ok) {
    const { user } = (await response.clone().json()) as { user: { id: string } };
    response.headers.append('set-cookie', signUpCookie(settings, signUpMark(user.id, secret)));
  }
  return response;
}

/** Runs a sign-up if the settings allow it. Uses up the invitation, and gives it back if the sign-up fails. */
async function withAdmission(
  { signUp: mode }: DashboardSettings,
  invitations: Invitations,
  { email, body }: CheckedRequest,
  work: () => Promise<Response>,
): Promise<Response> {
  if (mode === 'closed') throw new ApiError('forbidden', 'Sign-up is closed here. Ask the operator for an account.');
  if (mode === 'open') return work();
  const token = readText(body['invitation']) ?? '';
  const found = await invitations.find(token);
  if (found?.kind !== 'person' || found.state !== 'open')
    throw new ApiError(
      'forbidden',
      'You need an invitation to sign up. Yours is missing, used or expired. Ask the operator for a new one.',
    );
  if (found.email !== undefined && found.email !== email)
    throw new ApiError('forbidden', 'This invitation is for a different email address.', 'email');
  if (!(await invitations.use(token))) throw new ApiError('forbidden', 'This invitation has already been used.');
  let isDone = false;
  try {
    const response = await work();
    isDone = response.ok;
    return response;
  } finally {
    if (!isDone) await invitations.giveBack(token);
  }
}

function callLibrary(auth: Auth, { path, body, request, connectionAddress }: CheckedRequest): Promise<Response> {
  const headers = auth.withAddress(request.headers, connectionAddress);
  headers.delete('content-length');
  const { invitation: _, ...passed } = body;
  const sent = path.body === undefined ? (request.method === 'GET' ? null : '{}') : JSON.stringify(passed);
  // The query is dropped: the library would take redirect addresses from it.
  const { origin, pathname } = new URL(request.url);
  return auth.library.handler(new Request(origin + pathname, { method: request.method, headers, body: sent }));
}

function signUpCookie({ publicUrl }: DashboardSettings, mark: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${cookiePrefixOf(publicUrl)}.signing_up=${mark}; Max-Age=${SIGN_UP_SECONDS}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

async function atLeast<Result>(floorMs: number | undefined, work: () => Promise<Result>): Promise<Result> {
  if (floorMs === undefined) return work();
  const [result] = await Promise.all([work(), new Promise((resolve) => setTimeout(resolve, floorMs))]);
  return result;
}

/** Our messages for the library's error codes, where its own are not helpful. */
const TEXTS: Readonly<Record<string, string>> = {
  INVALID_EMAIL_OR_PASSWORD: 'Wrong email address or password.',
  EMAIL_NOT_VERIFIED: 'Verify your email address first: open the link in the email that we sent you.',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'There is already an account with this email address. Sign in, or set a new password.',
  INVALID_PASSWORD: 'Wrong password.',
  INVALID_TOKEN: 'This link has been used or has expired. Request a new one.',
  INVALID_CODE: 'Wrong code.',
  INVALID_BACKUP_CODE: 'This recovery code is wrong or has already been used.',
  INVALID_TWO_FACTOR_COOKIE: 'The sign-in took too long. Start again.',
  SESSION_NOT_FRESH: NOT_FRESH,
};

/** Says in an answer whether there is a session, instead of its token. Only the cookie has that, which no script on a page can read. */
async function withoutTokens(response: Response): Promise<Response> {
  const text = JSON.stringify(await response.json(), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('token' in value)) return value;
    const { token, ...rest } = value;
    return { ...rest, isSignedIn: typeof token === 'string' };
  });
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  return new Response(text, { status: response.status, headers });
}

/** Gives refusals the format of all other routes. Code and message also stay where the library's own client expects them. */
async function describeRefusal(response: Response): Promise<Response> {
  if (response.status < 400) return response;
  const refusal: unknown = await response.json().catch(() => undefined);
  const { code = 'REFUSED', message = 'This request was refused.' } = (refusal ?? {}) as { code?: string; message?: string };
  const error = { code: code.toLowerCase(), message: TEXTS[code] ?? message };
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  return Response.json({ ...error, error }, { status: response.status, headers });
}

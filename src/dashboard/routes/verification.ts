import { Hono, type Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { cookiePrefixOf } from '../auth/options.ts';
import { SIGN_IN } from '../auth/requests.ts';
import { linkOver, type VerificationClaim } from '../auth/verify.ts';
import { addressChangedEmail } from '../emails.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { grantVerified } from '../people/credit.ts';
import { endResetLinks, signInChangedAtSeconds } from '../people/sign-in-methods.ts';
import { validate } from '../validate.ts';

const bodySchema = z.strictObject({ token: z.string().max(2000), password: z.string().max(256).optional() });

/** Handles links that verify an email address. Opening a link twice is harmless. */
export function verificationRoutes(dependencies: Dependencies) {
  return new Hono<Env>().post('/', validate('json', bodySchema), async (c) => c.json(await verify(dependencies, c, c.req.valid('json'))));
}

/** The result of opening a link. */
interface Verification {
  readonly state: 'verified' | 'password_needed';
  readonly email: string;
}

async function verify(
  dependencies: Dependencies,
  c: Context<Env>,
  { token, password }: z.output<typeof bodySchema>,
): Promise<Verification> {
  const claim = await dependencies.auth.readVerification(token);
  if (claim.updateTo !== undefined) return changeAddress(dependencies, c, { ...claim, updateTo: claim.updateTo, token });
  const { email } = claim;
  const person = await findPerson(dependencies, email);
  if (person === undefined) throw new ApiError('invalid', 'There is no longer an account with this email address.');
  if (person.email_verified) return { state: 'verified', email };
  if (!(await isSamePerson(dependencies, c, { id: person.id, email }, password))) return { state: 'password_needed', email };
  // The library would also start a session, which the second factor must precede.
  if (person.two_factor_enabled)
    await (await dependencies.auth.library.$context).internalAdapter.updateUser(person.id, { emailVerified: true });
  else await runVerification(dependencies, c, token);
  await grantVerified(dependencies.database.kysely, dependencies.settings, person.id);
  return { state: 'verified', email };
}

/** Whether the link was opened by the person who signed up: with their session, in the same browser, or with their password. */
async function isSamePerson(
  { auth, settings }: Dependencies,
  c: Context<Env>,
  { id, email }: { readonly id: string; readonly email: string },
  password: string | undefined,
): Promise<boolean> {
  const session = await auth.findSession(c.req.raw.headers);
  if (session?.email === email) return true;
  if (auth.signedUpHere(getCookie(c, `${cookiePrefixOf(settings.publicUrl)}.signing_up`), id)) return true;
  if (password === undefined) return false;
  await auth.limits.admit([[SIGN_IN, `${email} ${auth.networkOf(c.req.raw.headers, c.env.address)}`]]);
  if (await auth.isPasswordOf(email, password)) return true;
  throw new ApiError('invalid', 'Wrong password.', 'password');
}

interface AddressChange extends VerificationClaim {
  readonly updateTo: string;
  readonly token: string;
}

/** Changes the address of a person and their account. They must be signed in when they open the link from the new mailbox. */
async function changeAddress(
  dependencies: Dependencies,
  c: Context<Env>,
  { email, updateTo, token, sentAtSeconds }: AddressChange,
): Promise<Verification> {
  const { kysely } = dependencies.database;
  const session = await dependencies.auth.findSession(c.req.raw.headers);
  if (session?.email === updateTo) return { state: 'verified', email: updateTo };
  if (session?.email !== email) throw new ApiError('unauthenticated', `Sign in as ${email}, then open this link again.`);
  if (sentAtSeconds < (await signInChangedAtSeconds(kysely, session.userId))) throw linkOver();
  const taken = await kysely.selectFrom('accounts').select('id').where('email', '=', updateTo).executeTakeFirst();
  if (taken !== undefined && taken.id !== session.accountId)
    throw new ApiError('conflict', 'Another account already uses this email address. Contact the operator.');
  await runVerification(dependencies, c, token);
  if (session.accountId !== undefined)
    await kysely.updateTable('accounts').set({ email: updateTo }).where('id', '=', session.accountId).execute();
  await endResetLinks(kysely, session.userId);
  await grantVerified(kysely, dependencies.settings, session.userId);
  dependencies.mail.send(addressChangedEmail(email, updateTo));
  return { state: 'verified', email: updateTo };
}

/** Has the library verify the address. It also starts a session if there is none. */
async function runVerification({ auth }: Dependencies, c: Context<Env>, token: string): Promise<void> {
  const answer = await auth.library.api.verifyEmail({
    query: { token },
    headers: auth.withAddress(c.req.raw.headers, c.env.address),
    asResponse: true,
  });
  if (!answer.ok) throw linkOver();
  for (const cookie of answer.headers.getSetCookie()) c.header('set-cookie', cookie, { append: true });
}

function findPerson({ database: { kysely } }: Dependencies, email: string) {
  return kysely.selectFrom('people').select(['id', 'email_verified', 'two_factor_enabled']).where('email', '=', email).executeTakeFirst();
}

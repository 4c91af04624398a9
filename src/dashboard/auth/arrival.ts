import { randomBytes } from 'node:crypto';
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware, getOAuthState } from 'better-auth/api';
import { deleteSessionCookie } from 'better-auth/cookies';
import type { Kysely } from 'kysely';
import { Invitations } from '../../accounts/invitations.ts';
import type { Tables } from '../../database/tables.ts';
import { arrival } from './admission.ts';
import type { DashboardSettings } from '../messages.ts';
import { grantVerified } from '../people/credit.ts';

type Middleware = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** The time allowed for a second factor, and its cookie. Both match the library's own values after a password. */
const FACTOR_SECONDS = 600;
const FACTOR_COOKIE = 'two_factor';
const FACTOR_BYTES = 16;

/**
 * Does what the library omits after a return from a provider: asks for the second factor, which the library does only after a
 * password; grants what requires a verified address; and gives back the invitation if the sign-up failed.
 */
export function afterProvider(settings: DashboardSettings, kysely: Kysely<Tables>): BetterAuthPlugin {
  const handler = createAuthMiddleware(async (context) => {
    const arrived = await arrival.get();
    const session = context.context.newSession;
    if (session === null) {
      if (arrived?.invitation !== undefined) await new Invitations(kysely).giveBack(arrived.invitation);
      return;
    }
    await grantVerified(kysely, settings, session.user.id);
    if (session.user['twoFactorEnabled'] === true) await askSecondFactor(context, settings.publicUrl);
  });
  return { id: 'tollgate-arrival', hooks: { after: [{ matcher: ({ path }) => path === '/callback/:id', handler }] } };
}

/** Revokes the new session and redirects to the second-factor page, as the library does after a password. */
async function askSecondFactor(context: Middleware, publicUrl: string): Promise<never> {
  const session = context.context.newSession;
  if (session === null) throw new Error('There is no session that needs a second factor');
  const { internalAdapter, createAuthCookie, secret } = context.context;
  deleteSessionCookie(context, true);
  await internalAdapter.deleteSession(session.session.token);
  context.context.setNewSession(null);
  const identifier = `2fa-${randomBytes(FACTOR_BYTES).toString('hex')}`;
  const expiresAt = new Date(Date.now() + FACTOR_SECONDS * 1000);
  await internalAdapter.createVerificationValue({ value: session.user.id, identifier, expiresAt });
  await internalAdapter.createVerificationValue({ value: '0', identifier: `2fa-attempts-${identifier}`, expiresAt });
  const cookie = createAuthCookie(FACTOR_COOKIE, { maxAge: FACTOR_SECONDS });
  await context.setSignedCookie(cookie.name, identifier, secret, cookie.attributes);
  const to = new URL((await getOAuthState())?.callbackURL ?? publicUrl).searchParams.get('to');
  throw context.redirect(`${publicUrl}/two-factor${to === null ? '' : `?${new URLSearchParams({ to }).toString()}`}`);
}

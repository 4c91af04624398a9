import { hasRequestState } from '@better-auth/core/context';
import { betterAuth } from 'better-auth';
import type { Kysely } from 'kysely';
import type { SignInProvider } from '../../accounts/sign-in-settings.ts';
import type { OpenDatabase } from '../../database/connect.ts';
import { admitIdentities, arrival } from './admission.ts';
import { afterProvider } from './arrival.ts';
import { authOptions } from './options.ts';
import { ownProvider } from './providers.ts';
import { existingAccountEmail, resetEmail, signInChangedEmail, verificationEmail } from '../emails.ts';
import type { Mail } from '../mail.ts';
import type { DashboardSettings } from '../messages.ts';
import { claimAccount } from '../people/people.ts';
import { grantVerified } from '../people/credit.ts';
import { endResetLinks, keepPasswordOnly, recordLink } from '../people/ways.ts';
import type { RateLimits } from '../rate-limits.ts';

/** What the library for accounts is opened with. */
export interface LibrarySetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: OpenDatabase;
  /** Its own way to the database. */
  readonly own: Kysely<unknown>;
  readonly mail: Mail;
  readonly limits: RateLimits;
  /** The operator's identity provider. It is asked for its addresses while the library opens. */
  readonly identityProvider?: SignInProvider;
}

/** The library for accounts, with its letters and with an account for everybody who signs up. */
export type Library = ReturnType<typeof openLibrary>;

export function openLibrary({ settings, secret, database, own, mail, limits, identityProvider }: LibrarySetup) {
  const options = authOptions({ settings, secret, database: own, dialect: database.dialect });
  const linkTo = (path: string, token: string): string => `${settings.publicUrl}${path}?token=${encodeURIComponent(token)}`;
  const { kysely } = database;
  return betterAuth({
    ...options,
    user: { ...options.user, validateUserInfo: admitIdentities({ settings, kysely, limits }) },
    plugins: [
      ...options.plugins,
      afterProvider(settings, kysely),
      ...(identityProvider === undefined ? [] : [ownProvider(identityProvider)]),
    ],
    emailAndPassword: {
      ...options.emailAndPassword,
      sendResetPassword: async ({ user, token }) => mail.send(resetEmail(user.email, linkTo('/reset', token))),
      onPasswordReset: async ({ user }) => {
        await endResetLinks(kysely, user.id);
        await takeOver(database, user);
        await grantVerified(kysely, settings, user.id);
        mail.send(signInChangedEmail(user.email, 'Your password was changed', `${settings.publicUrl}/settings`));
      },
      onExistingUserSignUp: async ({ user }) => mail.send(existingAccountEmail(user.email, `${settings.publicUrl}/sign-in`)),
    },
    emailVerification: {
      sendOnSignUp: true,
      autoSignInAfterVerification: true,
      sendVerificationEmail: async ({ user, token }) => mail.send(verificationEmail(user.email, linkTo('/verify', token))),
    },
    databaseHooks: {
      user: {
        create: {
          before: async ({ name }) => ({ data: { name: cleanName(name), image: null } }),
          after: async ({ id, email, emailVerified }) => {
            await claimAccount(kysely, { id, email, isEmailVerified: emailVerified });
          },
        },
      },
      account: {
        create: { before: async ({ userId, providerId }) => noteLink({ settings, kysely, mail }, userId, providerId) },
        update: { before: async () => ({ data: NO_TOKENS }) },
      },
    },
  });
}

/** What would let us act at a provider in somebody's name. We never do, and what is not kept cannot be stolen. */
const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
  scope: null,
} as const;

const NAME_CHARACTERS_MAX = 100;

/** Names may come from anywhere; ours have no control characters. */
function cleanName(name: string): string {
  return name
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX);
}

/** Who had an account before is told that there is another way into it. */
async function noteLink(
  { settings, kysely, mail }: Pick<LibrarySetup, 'settings' | 'mail'> & Pick<OpenDatabase, 'kysely'>,
  userId: string,
  providerId: string,
): Promise<{ readonly data: typeof NO_TOKENS }> {
  const came = (await hasRequestState()) ? await arrival.get() : undefined;
  if (came?.kind === 'linked') {
    const name = settings.signInProviders.find(({ id }) => id === providerId)?.name ?? providerId;
    const email = await recordLink(kysely, userId, providerId);
    if (email !== undefined)
      mail.send(signInChangedEmail(email, `Signing in with ${name} was added`, `${settings.publicUrl}/settings?tab=security`));
  }
  return { data: NO_TOKENS };
}

/**
 * Whoever has the link that came to an address has shown that the address is theirs. Where it was never verified before, somebody
 * else may have made the account: every other way in that they left is removed.
 */
async function takeOver(
  database: OpenDatabase,
  { id, emailVerified }: { readonly id: string; readonly emailVerified: boolean },
): Promise<void> {
  if (emailVerified) return;
  await keepPasswordOnly(database, id);
  await database.kysely
    .updateTable('people')
    .set({ email_verified: database.dialect === 'postgres' ? true : 1 })
    .where('id', '=', id)
    .execute();
}

import { hasRequestState } from '@better-auth/core/context';
import { betterAuth } from 'better-auth';
import type { Kysely } from 'kysely';
import type { SignInProvider } from '../../accounts/sign-in-settings.ts';
import type { OpenDatabase } from '../../database/connect.ts';
import { admitIdentities, arrival } from './admission.ts';
import { afterProvider } from './arrival.ts';
import type { Hashing } from './hashing.ts';
import { addressOfReset, rememberDevices } from './known-devices.ts';
import { authOptions } from './options.ts';
import { ownProvider } from './providers.ts';
import { noteSecondFactor } from './second-factor.ts';
import { hashedTokens } from './session-tokens.ts';
import { accessRemovedEmail, existingAccountEmail, resetEmail, signInChangedEmail, verificationEmail } from '../emails.ts';
import type { Mail } from '../mail.ts';
import type { DashboardSettings } from '../messages.ts';
import { removeEarlierAccess } from '../people/earlier-access.ts';
import { claimAccount } from '../people/people.ts';
import { grantVerified } from '../people/credit.ts';
import { endResetLinks, recordLink } from '../people/sign-in-methods.ts';
import type { RateLimits } from '../rate-limits.ts';

/** Everything that the authentication library depends on. */
export interface LibrarySetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: OpenDatabase;
  /** The library's own database connection. */
  readonly own: Kysely<unknown>;
  readonly mail: Mail;
  readonly limits: RateLimits;
  readonly hashing: Hashing;
  /** The operator's identity provider. Its addresses are fetched while the library opens. */
  readonly identityProvider?: SignInProvider;
}

/** The authentication library as configured here. */
export type Library = ReturnType<typeof openLibrary>;

/** Opens the authentication library, with our emails and with an account for everyone who signs up. */
export function openLibrary({ settings, secret, database, own, mail, limits, hashing, identityProvider }: LibrarySetup) {
  const options = authOptions({ settings, secret, database: own, dialect: database.dialect });
  const linkTo = (path: string, token: string): string => `${settings.publicUrl}${path}?token=${encodeURIComponent(token)}`;
  const { kysely } = database;
  const afterReset = async (user: { id: string; email: string; emailVerified: boolean }): Promise<void> => {
    await endResetLinks(kysely, user.id);
    // The link proves that the person owns the address.
    if (!user.emailVerified) await removeEarlierAccess(database, user.id);
    await grantVerified(kysely, settings, user.id);
    const link = `${settings.publicUrl}/settings`;
    mail.send(
      user.emailVerified ? signInChangedEmail(user.email, 'Your password was changed', link) : accessRemovedEmail(user.email, link),
    );
  };
  return betterAuth({
    ...options,
    user: { ...options.user, validateUserInfo: admitIdentities({ settings, kysely, limits }) },
    plugins: [
      ...options.plugins,
      hashedTokens,
      afterProvider(settings, kysely),
      rememberDevices(settings.publicUrl, secret),
      ...(identityProvider === undefined ? [] : [ownProvider(identityProvider)]),
    ],
    emailAndPassword: {
      ...options.emailAndPassword,
      password: hashing,
      sendResetPassword: async ({ user, token }) => mail.send(resetEmail(user.email, linkTo('/reset', token))),
      onPasswordReset: async ({ user }) => {
        await addressOfReset.set(user.email);
        try {
          await afterReset(user);
        } finally {
          // The library ends them too, but only if all of this succeeds.
          await kysely.deleteFrom('sessions').where('person_id', '=', user.id).execute();
        }
      },
      onExistingUserSignUp: async ({ user }) => mail.send(existingAccountEmail(user.email, `${settings.publicUrl}/sign-in`)),
    },
    emailVerification: {
      sendOnSignUp: true,
      autoSignInAfterVerification: true,
      sendVerificationEmail: async ({ user, token }) => mail.send(verificationEmail(user.email, linkTo('/verify', token))),
    },
    databaseHooks: {
      session: { create: { before: noteSecondFactor(kysely) } },
      user: {
        create: {
          before: async ({ name }) => ({ data: { name: cleanName(name), image: null } }),
          after: async ({ id, email, emailVerified }) => {
            await claimAccount(kysely, { id, email, isEmailVerified: emailVerified });
          },
        },
      },
      account: {
        create: { before: async ({ userId, providerId }) => recordNewLink({ settings, kysely, mail }, userId, providerId) },
        update: { before: async () => ({ data: NO_TOKENS }) },
      },
    },
  });
}

/** Clears the tokens that would let us act for a person at a provider. We never do, and tokens that are not stored cannot be stolen. */
const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
  scope: null,
} as const;

const NAME_CHARACTERS_MAX = 100;

/** Removes control characters from a name, which may come from a provider, and limits its length. */
function cleanName(name: string): string {
  return name
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX);
}

/** Emails the owner of an existing account that another way to sign in was added. */
async function recordNewLink(
  { settings, kysely, mail }: Pick<LibrarySetup, 'settings' | 'mail'> & Pick<OpenDatabase, 'kysely'>,
  userId: string,
  providerId: string,
): Promise<{ readonly data: typeof NO_TOKENS }> {
  const arrived = (await hasRequestState()) ? await arrival.get() : undefined;
  if (arrived?.kind === 'linked') {
    const name = settings.signInProviders.find(({ id }) => id === providerId)?.name ?? providerId;
    const email = await recordLink(kysely, userId, providerId);
    if (email !== undefined)
      mail.send(signInChangedEmail(email, `Signing in with ${name} was added`, `${settings.publicUrl}/settings?tab=security`));
  }
  return { data: NO_TOKENS };
}

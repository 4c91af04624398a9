import { betterAuth } from 'better-auth';
import type { Kysely } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { authOptions } from './auth-options.ts';
import { changedLetter, existingLetter, resetLetter, verificationLetter } from './mail-letters.ts';
import type { Mail } from './mail.ts';
import type { DashboardSettings } from './messages.ts';
import { claimAccount } from './people.ts';

/** What the library for accounts is opened with. */
export interface LibrarySetup {
  readonly settings: DashboardSettings;
  readonly secret: string;
  readonly database: OpenDatabase;
  /** Its own way to the database. */
  readonly own: Kysely<unknown>;
  readonly mail: Mail;
}

/** The library for accounts, with its letters and with an account for everybody who signs up. */
export type Library = ReturnType<typeof openLibrary>;

export function openLibrary({ settings, secret, database, own, mail }: LibrarySetup) {
  const options = authOptions({ settings, secret, database: own, dialect: database.dialect });
  const linkTo = (path: string, token: string): string => `${settings.publicUrl}${path}?token=${encodeURIComponent(token)}`;
  return betterAuth({
    ...options,
    emailAndPassword: {
      ...options.emailAndPassword,
      sendResetPassword: async ({ user, token }) => mail.send(resetLetter(user.email, linkTo('/reset', token))),
      onPasswordReset: async ({ user }) => {
        // The link came to the address, so the address is theirs.
        await database.kysely
          .updateTable('people')
          .set({ email_verified: asBoolean(database, true) })
          .where('id', '=', user.id)
          .execute();
        mail.send(changedLetter(user.email, 'Your password was changed', `${settings.publicUrl}/settings`));
      },
      onExistingUserSignUp: async ({ user }) => mail.send(existingLetter(user.email, `${settings.publicUrl}/sign-in`)),
    },
    emailVerification: {
      sendOnSignUp: true,
      autoSignInAfterVerification: true,
      sendVerificationEmail: async ({ user, token }) => mail.send(verificationLetter(user.email, linkTo('/verify', token))),
    },
    databaseHooks: {
      user: {
        create: {
          after: async ({ id, email, emailVerified }) => {
            await claimAccount(database.kysely, { id, email, isEmailVerified: emailVerified });
          },
        },
      },
    },
  });
}

function asBoolean({ dialect }: OpenDatabase, value: boolean): boolean | number {
  return dialect === 'postgres' ? value : Number(value);
}

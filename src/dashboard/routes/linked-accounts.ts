import { Hono } from 'hono';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { newPasswordSchema, refuseWeakPassword, SENSITIVE } from '../auth/requests.ts';
import { refuseStale } from '../auth/sessions.ts';
import { signInChangedEmail } from '../emails.ts';
import type { Env, Dependencies, Person } from '../dependencies.ts';
import { readSignInMethods, removeSignInMethod, type Removal } from '../people/sign-in-methods.ts';
import { validate } from '../validate.ts';

const passwordSchema = z.strictObject({ newPassword: newPasswordSchema });

/** Linked accounts, and setting a first password for people who signed up through a provider. */
export function linkedAccountRoutes(dependencies: Dependencies) {
  const { auth, mail, settings, database } = dependencies;
  const nameOf = (provider: string): string => settings.signInProviders.find(({ id }) => id === provider)?.name ?? provider;
  return new Hono<Env>()
    .get('/linked-accounts', async (c) => {
      const { hasPassword, linked } = await readSignInMethods(database.kysely, c.get('person').userId);
      return c.json({ hasPassword, linked: linked.map((way) => ({ ...way, name: nameOf(way.provider) })) });
    })
    .delete('/linked-accounts/:id', async (c) => {
      await removeMethod(dependencies, c.get('person'), { kind: 'linked', id: c.req.param('id') });
      return c.json({ isDone: true });
    })
    .post('/password', validate('json', passwordSchema), async (c) => {
      const person = c.get('person');
      const { newPassword } = c.req.valid('json');
      refuseStale(person);
      await auth.limits.admit([[SENSITIVE, person.userId]]);
      await refuseWeakPassword(newPassword, person.email);
      if ((await readSignInMethods(database.kysely, person.userId)).hasPassword)
        throw new ApiError('conflict', 'You already have a password. Use it to set a new one.');
      await auth.library.api.setPassword({ body: { newPassword }, headers: c.req.raw.headers });
      mail.send(signInChangedEmail(person.email, 'A password was set', `${settings.publicUrl}/settings?tab=security`));
      return c.json({ isDone: true });
    });
}

const TEXTS = {
  linked: {
    unknown: 'Linked account not found.',
    last: 'This is your only way to sign in. Set a password or add a passkey first.',
    email: 'A linked account was removed',
  },
  passkeys: {
    unknown: 'Passkey not found.',
    last: 'This passkey is your only way to sign in. Set a password or link an account first.',
    email: 'A passkey was removed',
  },
} as const;

/** Removes a way to sign in and emails the person. Requires a recent sign-in and another way to sign in. */
export async function removeMethod(
  { auth, mail, settings, database }: Dependencies,
  person: Person,
  { kind, id }: Pick<Removal, 'kind' | 'id'>,
): Promise<void> {
  refuseStale(person);
  await auth.limits.admit([[SENSITIVE, person.userId]]);
  const providers = new Set<string>(settings.signInProviders.map((provider) => provider.id));
  const outcome = await removeSignInMethod(database.kysely, { person, kind, id, providers });
  if (outcome === 'unknown') throw new ApiError('not_found', TEXTS[kind].unknown);
  if (outcome === 'last') throw new ApiError('conflict', TEXTS[kind].last);
  mail.send(signInChangedEmail(person.email, TEXTS[kind].email, `${settings.publicUrl}/settings?tab=security`));
}

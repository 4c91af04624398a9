import { Hono } from 'hono';
import { z } from 'zod';
import { Invitations } from '../../accounts/invitations.ts';
import { ApiError } from '../api-error.ts';
import { verifiesFirst } from '../auth/options.ts';
import { emailSchema, nameSchema, newPasswordSchema, refuseWeakPassword, SIGN_UP } from '../auth/requests.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { makeOperator } from '../people/people.ts';
import { validate } from '../validate.ts';

const bodySchema = z.strictObject({
  token: z.string().max(100),
  name: nameSchema.default(''),
  email: emailSchema,
  password: newPasswordSchema,
});

/** What pages need to know before sign-in, and the sign-up of operators by link. */
export function setupRoutes(dependencies: Dependencies) {
  const { auth, settings, database, mail } = dependencies;
  return new Hono<Env>()
    .get('/', (c) => {
      const providers = settings.signInProviders.map(({ id, name }) => ({ id, name }));
      const { signUp, signUpCreditUsd } = settings;
      return c.json({ signUp, signUpCreditUsd, hasMail: mail.isConfigured, verifiesFirst: verifiesFirst(settings), providers });
    })
    .post('/', validate('json', bodySchema), async (c) => {
      const { token, name, email, password } = c.req.valid('json');
      await auth.limits.admit([[SIGN_UP, auth.networkOf(c.req.raw.headers, c.env.address)]]);
      await refuseWeakPassword(password, email);
      const invitations = new Invitations(database.kysely);
      const invitation = await invitations.find(token);
      if (invitation?.email !== undefined && invitation.email !== email)
        throw new ApiError('forbidden', 'This link is for a different email address.', 'email');
      if (invitation?.kind !== 'operator' || !(await invitations.use(token)))
        throw new ApiError('forbidden', 'This link has been used or has expired. Create a new one with: account invite --operator');
      try {
        await createOperator(dependencies, { name, email, password });
      } catch (error) {
        await invitations.giveBack(token);
        throw error;
      }
      const headers = auth.withAddress(c.req.raw.headers, c.env.address);
      const answer = await auth.library.api.signInEmail({ body: { email, password }, headers, asResponse: true });
      for (const cookie of answer.headers.getSetCookie()) c.header('set-cookie', cookie, { append: true });
      return c.json({ isDone: true });
    });
}

interface NewPerson {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** Creates an operator with a verified address. The link comes from someone with access to the server, so no other proof is needed. */
async function createOperator({ auth, database }: Dependencies, { name, email, password }: NewPerson): Promise<void> {
  const { adapter, internalAdapter, password: passwords } = await auth.library.$context;
  if ((await internalAdapter.findUserByEmail(email)) !== null)
    throw new ApiError('conflict', 'There is already an account with this email address.', 'email');
  const hash = await passwords.hash(password);
  const now = new Date();
  const user = { name, email, emailVerified: true, createdAt: now, updatedAt: now };
  const person = await adapter.create<typeof user, typeof user & { id: string }>({ model: 'user', data: user });
  await internalAdapter.linkAccount({ userId: person.id, providerId: 'credential', accountId: person.id, password: hash });
  await makeOperator(database.kysely, { id: person.id, email, isEmailVerified: true });
}

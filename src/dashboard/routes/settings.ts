import { Hono, type Context } from 'hono';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { storedZone } from '../../accounts/key-settings.ts';
import { MINUTE_MS } from '../../durations.ts';
import { CONTENT_DAYS_MAX, readContentDays, setContentDays } from '../../usage/contents.ts';
import { ApiError } from '../api-error.ts';
import { nameSchema, SENSITIVE } from '../auth/requests.ts';
import { accountClosedEmail } from '../emails.ts';
import type { Env, Dependencies, Person } from '../dependencies.ts';
import { closeAccount } from '../people/close.ts';
import { exportPerson } from '../people/export.ts';
import { validate } from '../validate.ts';
import { accessRoutes } from './access.ts';
import { linkedAccountRoutes } from './linked-accounts.ts';

/** Without a password, an account can be deleted only this soon after signing in. */
const FRESH_MS = 10 * MINUTE_MS;
/** Enough to try again after a failed download. An export can be large, and is prepared in memory. */
const EXPORTS = { kind: 'own-export', max: 5, windowMs: 10 * MINUTE_MS };
const PASSWORD_NEEDED = 'Enter your password. If you have none, sign out, sign in again and delete the account within ten minutes.';

const changeSchema = z.strictObject({
  name: nameSchema.optional(),
  zone: storedZone.nullable().optional(),
  numberFormat: z.enum(['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN']).nullable().optional(),
  contentDays: z.number().int().min(1).max(CONTENT_DAYS_MAX).nullable().optional(),
});
const passwordSchema = z.strictObject({ password: z.string().max(256) });
const deleteSchema = z.strictObject({ password: z.string().max(256).optional() });

/** A person's own settings. */
export function settingsRoutes(dependencies: Dependencies) {
  const { kysely } = dependencies.database;
  return new Hono<Env>()
    .route('/', accessRoutes(dependencies))
    .route('/', linkedAccountRoutes(dependencies))
    .get('/', async (c) => c.json(await readProfile(dependencies, c.get('person'))))
    .patch('/', validate('json', changeSchema), async (c) => {
      await changeProfile(dependencies, c.get('person'), c.req.valid('json'));
      return c.json(await readProfile(dependencies, c.get('person')));
    })
    .post('/two-factor', validate('json', passwordSchema), async (c) =>
      c.json(await beginTwoFactor(dependencies, c, c.req.valid('json').password)),
    )
    .get('/export', async (c) => {
      await dependencies.auth.limits.admit([[EXPORTS, c.get('person').userId]]);
      const text = JSON.stringify(await exportPerson(kysely, c.get('person')), undefined, 2);
      return c.body(text, 200, {
        'content-type': 'application/json',
        'content-disposition': 'attachment; filename="tollgate-export.json"',
      });
    })
    .post('/delete', validate('json', deleteSchema), async (c) => {
      await deletePerson(dependencies, c.get('person'), c.req.valid('json').password);
      return c.json({ isDone: true });
    });
}

async function readProfile({ database: { kysely } }: Dependencies, { userId, accountId, hasTwoFactor }: Person) {
  const person = await kysely
    .selectFrom('people')
    .select(['name', 'email', 'email_verified', 'zone', 'number_format'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return {
    name: person.name,
    email: person.email,
    isEmailVerified: Boolean(person.email_verified),
    zone: person.zone,
    numberFormat: person.number_format,
    contentDays: (await readContentDays(kysely, accountId)) ?? null,
    hasTwoFactor,
  };
}

async function changeProfile(
  { database: { kysely } }: Dependencies,
  { userId, accountId }: Person,
  change: z.output<typeof changeSchema>,
): Promise<void> {
  const { name, zone, numberFormat, contentDays } = change;
  const columns = {
    ...(name === undefined ? {} : { name }),
    ...(zone === undefined ? {} : { zone }),
    ...(numberFormat === undefined ? {} : { number_format: numberFormat }),
  };
  if (Object.keys(columns).length > 0) await kysely.updateTable('people').set(columns).where('id', '=', userId).execute();
  if (contentDays !== undefined) await setContentDays(kysely, accountId, contentDays ?? undefined);
}

/** Creates a secret for an authenticator app. It takes effect once a code from the app was entered. */
async function beginTwoFactor({ auth }: Dependencies, c: Context<Env>, password: string) {
  const { userId } = c.get('person');
  await auth.limits.admit([[SENSITIVE, userId]]);
  const answer = await auth.library.api
    .enableTwoFactor({ body: { password, method: 'totp' }, headers: c.req.raw.headers })
    .catch((error: unknown) => {
      throw toRefusal(error);
    });
  if (!('totpURI' in answer)) throw new ApiError('internal_error', 'Two-factor authentication could not be set up. Try again.');
  return { uri: answer.totpURI, svg: renderSVG(answer.totpURI), recoveryCodes: answer.backupCodes };
}

/** Translates the library's errors to our messages. */
function toRefusal(error: unknown): unknown {
  const code = (error as { body?: { code?: string } }).body?.code;
  if (code === 'INVALID_PASSWORD') return new ApiError('invalid', 'Wrong password.', 'password');
  if (code === 'TOTP_ALREADY_ENABLED') return new ApiError('conflict', 'Two-factor authentication is already on. Turn it off first.');
  return error;
}

async function deletePerson({ auth, mail, database }: Dependencies, person: Person, password: string | undefined): Promise<void> {
  await auth.limits.admit([[SENSITIVE, person.userId]]);
  const isFresh = Date.now() - person.signedInAtMs < FRESH_MS;
  if (password === undefined && !isFresh) throw new ApiError('invalid', PASSWORD_NEEDED, 'password');
  if (password !== undefined && !(await auth.isPasswordOf(person.email, password)))
    throw new ApiError('invalid', 'Wrong password.', 'password');
  const outcome = await closeAccount(database.kysely, person.userId, person.accountId);
  if (outcome === 'last_operator')
    throw new ApiError('conflict', 'You are the only operator. Make someone else an operator before you delete your account.');
  mail.send(accountClosedEmail(person.email));
}

import { Hono } from 'hono';
import { z } from 'zod';
import { differences, recordAction } from '../../../accounts/audit.ts';
import { Invitations, inviteByLink } from '../../../accounts/invitations.ts';
import { readDatabaseState } from '../../../database/state.ts';
import { VERSION } from '../../../version.ts';
import { ApiError } from '../../api-error.ts';
import { emailSchema } from '../../auth/requests.ts';
import type { Banners } from '../../banners.ts';
import { testEmail } from '../../emails.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { validate } from '../../validate.ts';

const OPEN_MAX = 100;
const ANSWER_CHARS_MAX = 300;
const TESTS = { kind: 'mail-test', max: 5, windowMs: 600_000 };

const invitationSchema = z.strictObject({ kind: z.enum(['person', 'operator']), email: emailSchema.optional() });
const bannerSchema = z.strictObject({
  text: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(300, 'must have at most 300 characters')
    .regex(/^\P{Cc}*$/u, 'must be one line'),
  tone: z.enum(['info', 'warning']),
});

/** The service's settings, invitations, the banner and test emails. */
export function adminSettingsRoutes(dependencies: Dependencies, banners: Banners) {
  const { database, settings, mail } = dependencies;
  return new Hono<Env>()
    .get('/', async (c) => {
      const { bytes, nodes } = await readDatabaseState(database);
      const backup = database.dialect === 'sqlite' ? await findBackup(dependencies) : undefined;
      return c.json({
        version: VERSION,
        settings: settings.shown,
        database: { kind: database.dialect, bytes },
        nodes: nodes ?? null,
        backup: backup ?? null,
        hasMail: mail.isConfigured,
        invitations: await new Invitations(database.kysely).listOpen(OPEN_MAX),
        banner: (await banners.read()) ?? null,
      });
    })
    .put('/banner', validate('json', bannerSchema), async (c) => {
      await banners.set(c.req.valid('json'), c.get('person').email);
      return c.json({ set: true });
    })
    .delete('/banner', async (c) => {
      await banners.set(undefined, c.get('person').email);
      return c.json({ set: false });
    })
    .route('/', invitationRoutes(dependencies))
    .route('/', mailRoutes(dependencies));
}

function invitationRoutes({ database: { kysely }, settings }: Dependencies) {
  return new Hono<Env>()
    .post('/invitations', validate('json', invitationSchema), async (c) => {
      const { kind, email } = c.req.valid('json');
      const invited = await inviteByLink(kysely, { kind, email, url: settings.publicUrl, actor: c.get('person').email });
      return c.json(invited, 201);
    })
    .delete('/invitations/:id', async (c) => {
      if (!(await new Invitations(kysely).withdraw(c.req.param('id'), c.get('person').email)))
        throw new ApiError('not_found', 'Open invitation not found. It may have been used or have expired.');
      return c.json({ withdrawn: true });
    });
}

function mailRoutes({ database: { kysely }, mail, auth, settings }: Dependencies) {
  return new Hono<Env>().post('/test-letter', async (c) => {
    const { email, accountId } = c.get('person');
    if (!mail.isConfigured) throw new ApiError('conflict', 'Email is not set up: SMTP_URL is not set.');
    await auth.limits.admit([[TESTS, accountId]]);
    const result = await mail.deliver(testEmail(email, settings.publicUrl)).then(
      (answer) => ({ isSent: true, answer }),
      (error: unknown) => ({ isSent: false, answer: describeProblem(error) }),
    );
    const answer = result.answer.slice(0, ANSWER_CHARS_MAX);
    await recordAction(kysely, { actor: email, action: 'mail.test', subject: email, changes: differences({}, { answer }) });
    return c.json({ isSent: result.isSent, answer });
  });
}

/** Returns the mail server's answer, or the reason why there is none. */
function describeProblem(error: unknown): string {
  const { response } = error as { readonly response?: unknown };
  if (typeof response === 'string') return response;
  return error instanceof Error ? error.message : String(error);
}

/** Finds the newest backup in the audit log, where the backup command records it. */
async function findBackup({ database: { kysely } }: Dependencies): Promise<{ readonly file: string; readonly atMs: number } | undefined> {
  const entry = await kysely
    .selectFrom('audit')
    .select(['subject', 'created_at'])
    .where('action', '=', 'backup')
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return entry === undefined ? undefined : { file: entry.subject, atMs: Number(entry.created_at) };
}

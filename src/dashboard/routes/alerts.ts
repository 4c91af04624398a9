import { isIP } from 'node:net';
import { Hono } from 'hono';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { deliver } from '../../alerts/deliver.ts';
import { addDeliveries, findDelivery, listDeliveries, type Delivery } from '../../alerts/deliveries.ts';
import { ALERT_KINDS, AlertRules, RULES_MAX, type AlertKind, type AlertRule } from '../../alerts/rules.ts';
import { deleteWebhook, findWebhook, renewSecret, saveWebhook } from '../../alerts/webhooks.ts';
import type { Tables } from '../../database/tables.ts';
import { hostOf, HTTPS_PORT, portOf } from '../../http/https-place.ts';
import { parseWebhookUrl } from '../../http/post-webhook.ts';
import { isPublicAddress } from '../../http/public-address.ts';
import { asNanos, formatUsd, parseUsd } from '../../ledger/money.ts';
import { canonicalZone } from '../../zone-clock.ts';
import { channelsOf } from '../alert-clock.ts';
import { ApiError } from '../api-error.ts';
import type { Env, Dependencies, Person } from '../dependencies.ts';
import { validate } from '../validate.ts';

const DELIVERIES_SHOWN = 50;
/** Enough to try out a channel, too few to flood someone. */
const TESTS = { kind: 'alert-test', max: 5, windowMs: 600_000 };

const threshold = z.string().max(20);
const newRuleSchema = z.strictObject({
  kind: z.enum(Object.keys(ALERT_KINDS) as [AlertKind, ...AlertKind[]]),
  threshold: threshold.optional(),
  byMail: z.boolean(),
  byWebhook: z.boolean(),
  /** The time zone that the page shows. */
  zone: z.string().max(64).optional(),
});
const ruleChangeSchema = newRuleSchema.omit({ kind: true, zone: true });
const webhookSchema = z.strictObject({ url: z.string().max(2000) });
const testSchema = z.strictObject({ channel: z.enum(['mail', 'webhook']) });

/** Alerts: their rules, their channels, and past deliveries. */
export function alertRoutes(dependencies: Dependencies) {
  return new Hono<Env>().route('/', ruleRoutes(dependencies)).route('/', channelRoutes(dependencies));
}

function ruleRoutes({ database: { kysely }, mail }: Dependencies) {
  const rules = new AlertRules(kysely);
  return new Hono<Env>()
    .get('/', async (c) => {
      const { accountId, email, isEmailVerified } = c.get('person');
      const webhook = await findWebhook(kysely, accountId);
      const fired = await rules.listFired(accountId);
      return c.json({
        rules: (await rules.list(accountId)).map((rule) => ({ ...describeRule(rule), firedAtMs: fired.get(rule.id) ?? null })),
        mail: { to: email, isVerified: isEmailVerified, isConfigured: mail.isConfigured },
        webhook: webhook === undefined ? null : { url: webhook.url },
        deliveries: (await listDeliveries(kysely, accountId, DELIVERIES_SHOWN)).map(describeDelivery),
      });
    })
    .post('/rules', validate('json', newRuleSchema), async (c) => {
      const { kind, zone, ...form } = c.req.valid('json');
      const { accountId, userId } = c.get('person');
      const change = readChange(kind, form, c.get('person'));
      const rule = await rules.create(accountId, { kind, ...change });
      if (rule === undefined) throw new ApiError('conflict', `An account can have at most ${RULES_MAX} alerts. Delete one first.`);
      await keepZone(kysely, userId, zone);
      return c.json(describeRule(rule), 201);
    })
    .patch('/rules/:id', validate('json', ruleChangeSchema), async (c) => {
      const { accountId } = c.get('person');
      const known = (await rules.list(accountId)).find(({ id }) => id === c.req.param('id'));
      if (known === undefined) throw noSuchAlert();
      const rule = await rules.update(accountId, known.id, readChange(known.kind, c.req.valid('json'), c.get('person')));
      if (rule === undefined) throw noSuchAlert();
      return c.json(describeRule(rule));
    })
    .delete('/rules/:id', async (c) => {
      if (!(await rules.delete(c.get('person').accountId, c.req.param('id')))) throw noSuchAlert();
      return c.json({ deleted: true });
    });
}

function channelRoutes(dependencies: Dependencies) {
  const { kysely } = dependencies.database;
  return new Hono<Env>()
    .put('/webhook', validate('json', webhookSchema), async (c) => {
      const url = parseWebhookUrl(c.req.valid('json').url);
      if (url === undefined) throw new ApiError('invalid', 'The URL must start with https:// and contain no password.', 'url');
      if (portOf(url) !== HTTPS_PORT) throw new ApiError('invalid', `The URL must use port ${HTTPS_PORT}.`, 'url');
      if (isIP(hostOf(url)) !== 0 && !isPublicAddress(hostOf(url)))
        throw new ApiError('invalid', 'The URL must lead to the public internet.', 'url');
      const secret = await saveWebhook(kysely, c.get('person').accountId, url.href);
      return c.json({ url: url.href, secret: secret ?? null });
    })
    .post('/webhook/secret', async (c) => {
      const secret = await renewSecret(kysely, c.get('person').accountId);
      if (secret === undefined) throw new ApiError('not_found', 'There is no webhook yet. Set its URL first.');
      return c.json({ secret }, 201);
    })
    .delete('/webhook', async (c) => {
      await deleteWebhook(kysely, c.get('person').accountId);
      return c.json({ deleted: true });
    })
    .post('/test', validate('json', testSchema), async (c) => {
      const { channel } = c.req.valid('json');
      const { accountId } = c.get('person');
      if (channel === 'mail') refuseUnverified(c.get('person'));
      if (channel === 'webhook' && (await findWebhook(kysely, accountId)) === undefined)
        throw new ApiError('not_found', 'There is no webhook yet. Set its URL first.');
      await dependencies.auth.limits.admit([[TESTS, accountId]]);
      const message = { accountId, kind: 'test', title: 'Test alert', text: 'This is how alerts reach you.' } as const;
      const [id = ''] = await addDeliveries(kysely, message, [channel]);
      const added = await findDelivery(kysely, id);
      if (added !== undefined) await deliver(kysely, channelsOf(dependencies), added);
      const delivery = await findDelivery(kysely, id);
      if (delivery === undefined) throw new Error('The delivery is gone');
      return c.json(describeDelivery(delivery));
    });
}

interface RuleForm {
  readonly threshold?: string | undefined;
  readonly byMail: boolean;
  readonly byWebhook: boolean;
}

function readChange(kind: AlertKind, { threshold: text, byMail, byWebhook }: RuleForm, person: Person) {
  if (!byMail && !byWebhook) throw new ApiError('invalid', 'Choose email, the webhook, or both.', 'byMail');
  if (byMail) refuseUnverified(person);
  return { threshold: readThreshold(kind, text ?? ''), byMail, byWebhook };
}

/** Prevents alerts from being sent to someone else's mailbox. */
function refuseUnverified({ isEmailVerified, email }: Person): void {
  if (!isEmailVerified) throw new ApiError('forbidden', `Verify ${email} first. Alerts are sent only to verified addresses.`);
}

function readThreshold(kind: AlertKind, text: string): bigint {
  switch (ALERT_KINDS[kind]) {
    case 'usd': {
      const amount = parseUsd(text);
      if (amount === undefined || amount <= 0n)
        throw new ApiError('invalid', 'Enter an amount in USD above zero, such as 5 or 0.5.', 'threshold');
      return amount;
    }
    case 'percent':
      return readWhole(text, { most: 100, what: 'a percentage from 1 to 100' });
    case 'days':
      return readWhole(text, { most: 90, what: 'a number of days from 1 to 90' });
    case 'none':
      return 0n;
  }
}

function readWhole(text: string, { most, what }: { readonly most: number; readonly what: string }): bigint {
  const value = /^\d{1,3}$/u.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) throw new ApiError('invalid', `Enter ${what}.`, 'threshold');
  return BigInt(value);
}

function describeRule({ id, kind, threshold: value, byMail, byWebhook, createdAtMs }: AlertRule) {
  const unit = ALERT_KINDS[kind];
  return { id, kind, unit, threshold: unit === 'usd' ? formatUsd(asNanos(value)) : String(value), byMail, byWebhook, createdAtMs };
}

function describeDelivery({ id, kind, channel, title, text, status, tries, nextTryAtMs, problem, createdAtMs }: Delivery) {
  return { id, kind, channel, title, text, status, tries, nextTryAtMs, problem: problem ?? null, createdAtMs };
}

function noSuchAlert(): ApiError {
  return new ApiError('not_found', 'Alert not found. It may have been deleted.');
}

/** Saves the time zone of a person who has chosen none: their days and months begin when the page says, also while they are away. */
async function keepZone(database: Kysely<Tables>, personId: string, shown = ''): Promise<void> {
  const zone = canonicalZone(shown);
  if (zone !== undefined) await database.updateTable('people').set({ zone }).where('id', '=', personId).where('zone', 'is', null).execute();
}

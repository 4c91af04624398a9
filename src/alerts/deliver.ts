import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { runEach } from '../run-each.ts';
import { claim, findDue, finish, type Channel, type Delivery } from './deliveries.ts';
import { findWebhook, signRequest, type WebhookRequest } from './webhooks.ts';

/** The channels to the outside. Each returns a problem worded for the owner, or undefined. Exceptions are for the operator. */
export interface AlertChannels {
  /** Sends an email to the owner of the account. */
  mail(to: string, message: Pick<Delivery, 'title' | 'text'>): Promise<string | undefined>;
  post(request: WebhookRequest): Promise<string | undefined>;
  /** Reports a failure to the operator. */
  fail(error: unknown): void;
}

const BATCH_MAX = 50;
/** How many are sent at once. A mail server takes few connections; a webhook that does not respond must not delay those of others. */
const AT_ONCE: Readonly<Record<Channel, number>> = { mail: 2, webhook: BATCH_MAX };
const UNSENT = { mail: 'The email could not be sent.', webhook: 'The address did not respond.' } as const;

/** Sends the due deliveries of one channel. Each is claimed only when it is sent: until then, another process may take it. */
export async function deliverDue(database: Kysely<Tables>, channels: AlertChannels, channel: Channel): Promise<void> {
  const due = await findDue(database, channel, { nowMs: Date.now(), rowsMax: BATCH_MAX });
  await runEach(due, (delivery) => deliver(database, channels, delivery), AT_ONCE[channel]);
}

/** Sends one delivery, unless another process does. Failed deliveries are retried later, after longer and longer waits. */
export async function deliver(database: Kysely<Tables>, channels: AlertChannels, delivery: Delivery): Promise<void> {
  if (await claim(database, delivery)) await finish(database, delivery, await send(database, channels, delivery));
}

async function send(database: Kysely<Tables>, channels: AlertChannels, delivery: Delivery): Promise<string | undefined> {
  try {
    return await (delivery.channel === 'mail' ? sendMail(database, channels, delivery) : sendPost(database, channels, delivery));
  } catch (error) {
    channels.fail(error);
    return UNSENT[delivery.channel];
  }
}

async function sendMail(database: Kysely<Tables>, channels: AlertChannels, delivery: Delivery): Promise<string | undefined> {
  const account = await database.selectFrom('accounts').select('email').where('id', '=', delivery.accountId).executeTakeFirst();
  return account === undefined ? 'The account has no email address.' : channels.mail(account.email, delivery);
}

async function sendPost(database: Kysely<Tables>, channels: AlertChannels, delivery: Delivery): Promise<string | undefined> {
  const webhook = await findWebhook(database, delivery.accountId);
  return webhook === undefined ? 'The webhook no longer exists.' : channels.post(signRequest(webhook, delivery, Date.now()));
}

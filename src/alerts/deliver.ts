import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { claim, findDue, finish, type Delivery } from './deliveries.ts';
import { findWebhook, signRequest, type WebhookRequest } from './webhooks.ts';

/** The ways to the outside. Each gives what went wrong in words for the owner, or undefined; what they throw is for the operator. */
export interface Carriers {
  /** Writes to the owner of the account. */
  mail(to: string, message: Pick<Delivery, 'title' | 'text'>): Promise<string | undefined>;
  post(request: WebhookRequest): Promise<string | undefined>;
  /** Tells the operator. */
  fail(error: unknown): void;
}

const BATCH_MAX = 50;
const UNSENT = { mail: 'The mail could not be sent.', webhook: 'The address did not answer.' } as const;

/** Sends what is due, all at once: one webhook that does not answer must not make the others wait. */
export async function deliverDue(database: Kysely<Tables>, carriers: Carriers): Promise<void> {
  const due = await findDue(database, Date.now(), BATCH_MAX);
  await Promise.all(due.map((delivery) => deliver(database, carriers, delivery)));
}

/** Sends one message, unless another process does. One that fails is tried again later, after longer and longer waits. */
export async function deliver(database: Kysely<Tables>, carriers: Carriers, delivery: Delivery): Promise<void> {
  if (await claim(database, delivery)) await finish(database, delivery, await carry(database, carriers, delivery));
}

async function carry(database: Kysely<Tables>, carriers: Carriers, delivery: Delivery): Promise<string | undefined> {
  try {
    return await (delivery.channel === 'mail' ? carryMail(database, carriers, delivery) : carryPost(database, carriers, delivery));
  } catch (error) {
    carriers.fail(error);
    return UNSENT[delivery.channel];
  }
}

async function carryMail(database: Kysely<Tables>, carriers: Carriers, delivery: Delivery): Promise<string | undefined> {
  const account = await database.selectFrom('accounts').select('email').where('id', '=', delivery.accountId).executeTakeFirst();
  return account === undefined ? 'The account has no address.' : carriers.mail(account.email, delivery);
}

async function carryPost(database: Kysely<Tables>, carriers: Carriers, delivery: Delivery): Promise<string | undefined> {
  const webhook = await findWebhook(database, delivery.accountId);
  return webhook === undefined ? 'There is no webhook any more.' : carriers.post(signRequest(webhook, delivery, Date.now()));
}

import { createHmac, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { Delivery } from './deliveries.ts';

/** An account's webhook. */
export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/** A webhook request, ready to send. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const SECRET_BYTES = 32;

/** Returns an account's webhook, if it has one. */
export async function findWebhook(database: Kysely<Tables>, accountId: string): Promise<Webhook | undefined> {
  return database.selectFrom('alert_webhooks').select(['url', 'secret']).where('account_id', '=', accountId).executeTakeFirst();
}

/** Sets the address. The first time this also creates a secret, and returns it to be shown once. */
export async function saveWebhook(database: Kysely<Tables>, accountId: string, url: string): Promise<string | undefined> {
  const secret = makeSecret();
  const row = await database
    .insertInto('alert_webhooks')
    .values({ account_id: accountId, url, secret, created_at: Date.now() })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ url }))
    .returning('secret')
    .executeTakeFirstOrThrow();
  return row.secret === secret ? secret : undefined;
}

/** Replaces the secret. Returns undefined when the account has no webhook. */
export async function renewSecret(database: Kysely<Tables>, accountId: string): Promise<string | undefined> {
  const secret = makeSecret();
  const { numUpdatedRows } = await database
    .updateTable('alert_webhooks')
    .set({ secret })
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return numUpdatedRows === 1n ? secret : undefined;
}

/** Deletes an account's webhook and its secret. */
export async function deleteWebhook(database: Kysely<Tables>, accountId: string): Promise<void> {
  await database.deleteFrom('alert_webhooks').where('account_id', '=', accountId).execute();
}

/**
 * Builds and signs a webhook request. The signature covers the time, so that a recorded request cannot be replayed later. The id
 * tells a repeated delivery from a new one.
 */
export function signRequest({ url, secret }: Webhook, delivery: Delivery, nowMs: number): WebhookRequest {
  const body = JSON.stringify({
    id: delivery.id,
    type: 'alert',
    kind: delivery.kind,
    title: delivery.title,
    text: delivery.text,
    account_id: delivery.accountId,
    key_id: delivery.keyId ?? null,
    created_at: new Date(delivery.createdAtMs).toISOString(),
  });
  const seconds = Math.floor(nowMs / 1000);
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return {
    url,
    body,
    headers: { 'content-type': 'application/json', 'tollgate-delivery': delivery.id, 'tollgate-signature': `t=${seconds},v1=${signature}` },
  };
}

function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

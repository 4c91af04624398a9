import type { Kysely } from 'kysely';
import { accountAndKeys } from '../../accounts/owners.ts';
import type { Tables } from '../../database/tables.ts';
import { asNanos, formatUsd } from '../../ledger/money.ts';
import type { Person } from '../dependencies.ts';

/** Tables that grow without limit are exported up to this many rows, newest first. */
const ROWS_MAX = 5000;
/** Prompts and answers may be long. They are read a few rows at a time, up to this many characters in total. */
const CONTENT_ROWS = 20;
const CONTENT_CHARACTERS_MAX = 10_000_000;

/** Exports an account's configuration, payments and records for its owner. Webhook secrets are left out. */
export async function exportAccountData(
  database: Kysely<Tables>,
  { accountId, email }: Pick<Person, 'accountId' | 'email'>,
): Promise<Readonly<Record<string, unknown>>> {
  return {
    alerts: await exportAlerts(database, accountId),
    saved_views: await exportViews(database, accountId),
    payments: await exportPayments(database, accountId),
    plans: await exportPlans(database, accountId),
    redeemed_codes: await exportCodes(database, accountId),
    changes: await exportChanges(database, accountId, email),
    refused_requests: await exportRefusals(database, accountId),
    contents: await exportContents(database, accountId),
  };
}

async function exportAlerts(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  const rules = await database.selectFrom('alert_rules').selectAll().where('account_id', '=', accountId).orderBy('created_at').execute();
  const webhook = await database.selectFrom('alert_webhooks').select('url').where('account_id', '=', accountId).executeTakeFirst();
  const sent = await database
    .selectFrom('alert_deliveries')
    .select(['title', 'channel', 'status', 'created_at'])
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .limit(ROWS_MAX)
    .execute();
  return {
    webhook: webhook?.url ?? null,
    rules: rules.map(({ kind, threshold, by_mail, by_webhook, created_at }) => ({
      kind,
      threshold: String(threshold),
      by_mail: by_mail === 1n,
      by_webhook: by_webhook === 1n,
      created_at: toIso(created_at),
    })),
    deliveries: sent.map(({ created_at, ...delivery }) => ({ ...delivery, created_at: toIso(created_at) })),
  };
}

async function exportViews(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  const views = await database.selectFrom('saved_views').select(['page', 'name', 'search']).where('account_id', '=', accountId).execute();
  return views;
}

async function exportPayments(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  const rows = await database
    .selectFrom('payments')
    .select(['id', 'provider', 'purpose', 'status', 'amount', 'charge_cents', 'created_at', 'paid_at'])
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .limit(ROWS_MAX)
    .execute();
  return rows.map(({ amount, charge_cents, created_at, paid_at, ...payment }) => ({
    ...payment,
    usd: formatUsd(asNanos(amount)),
    charged_cents: Number(charge_cents),
    created_at: toIso(created_at),
    paid_at: paid_at === null ? null : toIso(paid_at),
  }));
}

async function exportPlans(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  const rows = await database
    .selectFrom('subscriptions')
    .select(['plan_id', 'status', 'pays_by', 'period_start', 'period_end', 'created_at'])
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .execute();
  return rows.map(({ period_start, period_end, created_at, ...subscription }) => ({
    ...subscription,
    period_start: toIso(period_start),
    period_end: toIso(period_end),
    created_at: toIso(created_at),
  }));
}

async function exportCodes(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  const rows = await database
    .selectFrom('promo_redemptions')
    .select(['campaign', 'state', 'created_at'])
    .where('account_id', '=', accountId)
    .execute();
  return rows.map(({ created_at, ...redemption }) => ({ ...redemption, created_at: toIso(created_at) }));
}

/** Exports the changes to the account and its keys. Operators are not named. */
async function exportChanges(database: Kysely<Tables>, accountId: string, email: string): Promise<unknown> {
  const rows = await database
    .selectFrom('audit')
    .select(['actor', 'action', 'subject', 'created_at'])
    .where('subject', 'in', accountAndKeys(database, accountId))
    .orderBy('created_at', 'desc')
    .limit(ROWS_MAX)
    .execute();
  return rows.map(({ actor, created_at, ...entry }) => ({
    by: actor === email ? 'you' : 'the service',
    ...entry,
    created_at: toIso(created_at),
  }));
}

async function exportRefusals(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  return database
    .selectFrom('refusals')
    .select(['request_id', 'error_code', 'message', 'model', 'key_id'])
    .where('account_id', '=', accountId)
    .orderBy('request_id', 'desc')
    .limit(ROWS_MAX)
    .execute();
}

async function exportContents(database: Kysely<Tables>, accountId: string): Promise<unknown> {
  const contents: { request_id: string; request: unknown; answer: string; delete_at: string }[] = [];
  let characters = 0;
  let before: string | undefined;
  do {
    const page = database
      .selectFrom('request_contents')
      .select(['request_id', 'request', 'answer', 'delete_at'])
      .where('account_id', '=', accountId)
      .orderBy('request_id', 'desc')
      .limit(CONTENT_ROWS);
    const rows = await (before === undefined ? page : page.where('request_id', '<', before)).execute();
    for (const { request_id, request, answer, delete_at } of rows) {
      contents.push({ request_id, request, answer, delete_at: toIso(delete_at) });
      characters += request.length + answer.length;
    }
    before = rows.length === CONTENT_ROWS ? rows.at(-1)?.request_id : undefined;
  } while (before !== undefined && characters < CONTENT_CHARACTERS_MAX);
  return contents;
}

function toIso(atMs: bigint): string {
  return new Date(Number(atMs)).toISOString();
}

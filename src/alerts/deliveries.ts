import { sql, type Kysely, type Selectable } from 'kysely';
import { deleteInParts } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts';
import { idAt, makeId } from '../ids.ts';
import type { AlertKind } from './rules.ts';

export type Channel = 'mail' | 'webhook';

/** What somebody is told. */
export interface AlertMessage {
  readonly accountId: string;
  readonly kind: AlertKind | 'test';
  readonly title: string;
  readonly text: string;
  readonly keyId?: string | undefined;
}

/** A message on its way by one channel. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly kind: string;
  readonly channel: Channel;
  readonly title: string;
  readonly text: string;
  readonly keyId: string | undefined;
  readonly status: 'waiting' | 'sent' | 'failed';
  readonly tries: number;
  readonly nextTryAtMs: number;
  readonly problem: string | undefined;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | undefined;
}

/** After each failed try it is waited longer; the last failure is the end. */
const BACK_OFF_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS];
export const TRIES_MAX = BACK_OFF_MS.length + 1;
/** Longer than any channel takes: whoever claimed a delivery and did not finish it until then is dead. */
const CLAIM_MS = 2 * MINUTE_MS;
const PROBLEM_CHARACTERS_MAX = 300;
const KEPT_MS = 30 * DAY_MS;
const PRUNED_ROWS = 500;
/** Far more than anybody reads. Beyond that, alerts that come and go would fill a mailbox, or load somebody else's server. */
const A_DAY_MAX: Readonly<Record<Channel, number>> = { mail: 200, webhook: 2000 };

/** Puts a message on its way, by each of the channels; gives the ids of the deliveries. One too many in a day is only written down. */
export async function addDeliveries(database: Kysely<Tables>, message: AlertMessage, channels: readonly Channel[]): Promise<string[]> {
  if (channels.length === 0) return [];
  const nowMs = Date.now();
  const { accountId, kind, title, text, keyId } = message;
  const payload = JSON.stringify({ text, keyId });
  const counts = await countSince(database, accountId, nowMs - DAY_MS);
  const rows = channels.map((channel) => {
    const isTooMany = (counts.get(channel) ?? 0) >= A_DAY_MAX[channel];
    return {
      id: makeId('delivery', nowMs),
      account_id: accountId,
      kind,
      channel,
      title,
      payload,
      status: isTooMany ? ('failed' as const) : ('waiting' as const),
      tries: 0,
      next_try_at: nowMs,
      problem: isTooMany ? `Not sent: there were ${A_DAY_MAX[channel]} messages in the last 24 hours.` : null,
      created_at: nowMs,
      finished_at: isTooMany ? nowMs : null,
    };
  });
  await database.insertInto('alert_deliveries').values(rows).execute();
  return rows.map(({ id }) => id);
}

/** How many messages an account was sent, or is about to be, by each channel. */
async function countSince(database: Kysely<Tables>, accountId: string, sinceMs: number): Promise<ReadonlyMap<Channel, number>> {
  const rows = await database
    .selectFrom('alert_deliveries')
    .select(({ fn }) => ['channel', fn.countAll<bigint>().as('count')])
    .where('account_id', '=', accountId)
    .where('created_at', '>=', BigInt(sinceMs))
    .where((where) => where.or([where('status', '=', 'waiting'), where('tries', '>', 0n)]))
    .groupBy('channel')
    .execute();
  return new Map(rows.map(({ channel, count }) => [channel, Number(count)]));
}

/** The deliveries whose time has come: the oldest of every account, then the second ones. An account with thousands of them, and a webhook that hangs, keeps nobody waiting. */
export async function findDue(database: Kysely<Tables>, nowMs: number, limit: number): Promise<Delivery[]> {
  const rows = await database
    .selectFrom('alert_deliveries')
    .selectAll()
    .select(sql<bigint>`ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY next_try_at)`.as('place'))
    .where('status', '=', 'waiting')
    .where('next_try_at', '<=', BigInt(nowMs))
    .orderBy('place')
    .orderBy('next_try_at')
    .limit(limit)
    .execute();
  return rows.map(readDelivery);
}

/** Takes a delivery for this process: of several that try, one succeeds. */
export async function claim(database: Kysely<Tables>, { id, tries }: Delivery): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('alert_deliveries')
    .set({ tries: tries + 1, next_try_at: Date.now() + CLAIM_MS })
    .where('id', '=', id)
    .where('status', '=', 'waiting')
    .where('tries', '=', BigInt(tries))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Notes how a try ended; without a problem it is sent, and after the last try given up. */
export async function finish(database: Kysely<Tables>, { id, tries }: Delivery, problem: string | undefined): Promise<void> {
  const nowMs = Date.now();
  const waitMs = BACK_OFF_MS[tries];
  const isOver = problem === undefined || waitMs === undefined;
  await database
    .updateTable('alert_deliveries')
    .set({
      status: problem === undefined ? 'sent' : isOver ? 'failed' : 'waiting',
      next_try_at: nowMs + (waitMs ?? 0),
      problem: problem?.slice(0, PROBLEM_CHARACTERS_MAX) ?? null,
      finished_at: isOver ? nowMs : null,
    })
    .where('id', '=', id)
    .execute();
}

/** One delivery, of whichever account. */
export async function findDelivery(database: Kysely<Tables>, id: string): Promise<Delivery | undefined> {
  const row = await database.selectFrom('alert_deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : readDelivery(row);
}

/** The latest deliveries of an account, newest first. */
export async function listDeliveries(database: Kysely<Tables>, accountId: string, limit: number): Promise<Delivery[]> {
  const rows = await database
    .selectFrom('alert_deliveries')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(readDelivery);
}

/** Forgets what was delivered, or given up, a month ago. */
export async function pruneDeliveries(database: Kysely<Tables>, nowMs: number): Promise<void> {
  const old = database
    .selectFrom('alert_deliveries')
    .select('id')
    .where('status', '<>', 'waiting')
    // Ids are in the order of time, and have an index.
    .where('id', '<', idAt('delivery', nowMs - KEPT_MS));
  await deleteInParts(database.deleteFrom('alert_deliveries').where('id', 'in', old.limit(PRUNED_ROWS)), PRUNED_ROWS);
}

function readDelivery(row: Selectable<Tables['alert_deliveries']>): Delivery {
  const { text, keyId } = JSON.parse(row.payload) as { readonly text: string; readonly keyId?: string };
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    channel: row.channel,
    title: row.title,
    text,
    keyId,
    status: row.status,
    tries: Number(row.tries),
    nextTryAtMs: Number(row.next_try_at),
    problem: row.problem ?? undefined,
    createdAtMs: Number(row.created_at),
    finishedAtMs: row.finished_at === null ? undefined : Number(row.finished_at),
  };
}

import { sql, type Kysely, type Selectable } from 'kysely';
import { deleteInParts, PART_ROWS } from '../database/delete-in-parts.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts';
import { idAt, makeId } from '../ids.ts';
import type { AlertKind } from './rules.ts';

/** How a message is delivered. */
export type Channel = 'mail' | 'webhook';

/** The content of an alert. */
export interface AlertMessage {
  readonly accountId: string;
  readonly kind: AlertKind | 'test';
  readonly title: string;
  readonly text: string;
  readonly keyId?: string | undefined;
}

/** A message to send through one channel. */
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
}

/** The wait after each failed try. The last failure is final. */
const BACK_OFF_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS];
/** How often a delivery is tried in all. */
export const TRIES_MAX = BACK_OFF_MS.length + 1;
/** Longer than any channel takes: a process that claimed a delivery and has not finished it by then is dead. */
const CLAIM_MS = 2 * MINUTE_MS;
const PROBLEM_CHARACTERS_MAX = 300;
const KEPT_MS = 30 * DAY_MS;
/** Far more than anyone reads. Without a limit, an alert that comes and goes could flood a mailbox or a foreign server. */
const DAILY_MAX: Readonly<Record<Channel, number>> = { mail: 200, webhook: 2000 };

/** Queues a message for each channel; returns the delivery ids. Messages above the daily limit are only recorded. */
export async function addDeliveries(database: Kysely<Tables>, message: AlertMessage, channels: readonly Channel[]): Promise<string[]> {
  if (channels.length === 0) return [];
  const nowMs = Date.now();
  const { accountId, kind, title, text, keyId } = message;
  const payload = JSON.stringify({ text, keyId });
  const counts = await countSince(database, accountId, nowMs - DAY_MS);
  const rows = channels.map((channel) => {
    const isTooMany = (counts.get(channel) ?? 0) >= DAILY_MAX[channel];
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
      problem: isTooMany ? `Not sent: the limit of ${DAILY_MAX[channel]} messages in 24 hours was reached.` : null,
      created_at: nowMs,
      finished_at: isTooMany ? nowMs : null,
    };
  });
  await database.insertInto('alert_deliveries').values(rows).execute();
  return rows.map(({ id }) => id);
}

/** Counts the messages per channel that an account was sent or is about to be sent. */
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

/**
 * Returns due deliveries of a channel: the oldest of every account, then the second oldest, and so on. An account with thousands of them
 * and a hanging webhook delays no other account.
 */
export async function findDue(
  database: Kysely<Tables>,
  channel: Channel,
  { nowMs, rowsMax }: { readonly nowMs: number; readonly rowsMax: number },
): Promise<Delivery[]> {
  const rows = await database
    .selectFrom('alert_deliveries')
    .selectAll()
    .select(sql<bigint>`ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY next_try_at)`.as('place'))
    .where('status', '=', 'waiting')
    .where('channel', '=', channel)
    .where('next_try_at', '<=', BigInt(nowMs))
    .orderBy('place')
    .orderBy('next_try_at')
    .limit(rowsMax)
    .execute();
  return rows.map(readDelivery);
}

/** Claims a delivery for this process. Of several processes that try, one succeeds. */
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

/** Records the result of a try: sent if there was no problem, failed after the last try. */
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

/** Finds a delivery, whichever account it belongs to. */
export async function findDelivery(database: Kysely<Tables>, id: string): Promise<Delivery | undefined> {
  const row = await database.selectFrom('alert_deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : readDelivery(row);
}

/** Returns an account's latest deliveries, newest first. */
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

/** Deletes deliveries that were sent or failed a month ago. */
export async function pruneDeliveries(database: Kysely<Tables>, nowMs: number): Promise<void> {
  const old = database
    .selectFrom('alert_deliveries')
    .select('id')
    .where('status', '<>', 'waiting')
    // Ids are ordered by time and indexed.
    .where('id', '<', idAt('delivery', nowMs - KEPT_MS));
  await deleteInParts(database.deleteFrom('alert_deliveries').where('id', 'in', old.limit(PART_ROWS)), PART_ROWS);
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
  };
}

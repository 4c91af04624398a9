import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import type { PaymentRow } from './payments.ts';

/** Older failures are not shown. */
const SHOWN_MS = 7 * DAY_MS;

/** Returns the account's last failed payment, unless a later one succeeded. */
export async function findFailedPayment(database: Kysely<Tables>, accountId: string, nowMs: number): Promise<PaymentRow | undefined> {
  const last = await database
    .selectFrom('payments')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('created_at', '>=', BigInt(nowMs - SHOWN_MS))
    .where('status', 'in', ['paid', 'failed'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.status === 'failed' ? last : undefined;
}

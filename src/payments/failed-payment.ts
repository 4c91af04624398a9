import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import type { PaymentRow } from './credit-payment.ts';

/** After this long nobody needs to be told any more. */
const TOLD_MS = 7 * DAY_MS;

/** The payment of an account that failed last, unless one was made after it. */
export async function findFailedPayment(database: Kysely<Tables>, accountId: string, nowMs: number): Promise<PaymentRow | undefined> {
  const last = await database
    .selectFrom('payments')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('created_at', '>=', BigInt(nowMs - TOLD_MS))
    .where('status', 'in', ['paid', 'failed'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.status === 'failed' ? last : undefined;
}

import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import type { PaymentDesk } from './desk.ts';
import { UNFINISHED } from './payments.ts';

/** A customer that a payment provider still stores although the account is closed. */
export interface KeptCustomer {
  readonly accountId: string;
  readonly provider: string;
  readonly customerRef: string;
}

const CUSTOMERS_PER_TURN = 20;
const RETRY_MS = HOUR_MS;

/** Deletes the customers of closed accounts at payment providers. Returns those that could not be deleted; they are retried in an hour. */
export async function forgetCustomers(database: Kysely<Tables>, desk: PaymentDesk, nowMs: number): Promise<KeptCustomer[]> {
  const kept: KeptCustomer[] = [];
  for (const customer of await findLeaving(database, desk, nowMs)) {
    if (!(await claim(database, customer, nowMs))) continue;
    const isForgotten = await desk.driver(customer.provider)?.forget?.(customer.customerRef);
    if (isForgotten === true) await removeRow(database, customer);
    else kept.push(customer);
  }
  return kept;
}

/** Returns the customers due for deletion. A running payment still needs its customer, and ends within a day or so. */
async function findLeaving(database: Kysely<Tables>, desk: PaymentDesk, nowMs: number): Promise<readonly KeptCustomer[]> {
  const supported = desk.providers.filter((name) => desk.driver(name)?.forget !== undefined);
  if (supported.length === 0) return [];
  return database
    .selectFrom('payment_customers')
    .select(['account_id as accountId', 'provider', 'customer_ref as customerRef'])
    .where('forget_at', '<=', BigInt(nowMs))
    .where('provider', 'in', supported)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('payments')
            .select('payments.id')
            .whereRef('payments.account_id', '=', 'payment_customers.account_id')
            .whereRef('payments.provider', '=', 'payment_customers.provider')
            .where('payments.status', 'in', UNFINISHED),
        ),
      ),
    )
    .orderBy('forget_at')
    .limit(CUSTOMERS_PER_TURN)
    .execute();
}

/** Claims a customer, so that only one process deletes it. If that process dies, another one retries in an hour. */
async function claim(database: Kysely<Tables>, customer: KeptCustomer, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('payment_customers')
    .set({ forget_at: nowMs + RETRY_MS })
    .where('account_id', '=', customer.accountId)
    .where('provider', '=', customer.provider)
    .where('forget_at', '<=', BigInt(nowMs))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

async function removeRow(database: Kysely<Tables>, customer: KeptCustomer): Promise<void> {
  await database
    .deleteFrom('payment_customers')
    .where('account_id', '=', customer.accountId)
    .where('provider', '=', customer.provider)
    .execute();
}

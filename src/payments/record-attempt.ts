import type { Insertable, Kysely } from 'kysely';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import { lockWallet } from '../ledger/credit.ts';
import { UNFINISHED } from './payments.ts';
import { isStillWanted, type Charge } from './still-wanted.ts';

/** Card thieves test numbers with small payments. An honest payer needs fewer attempts than this. */
const UNPAID_PER_HOUR_MAX = 10n;

/**
 * Writes a payment before the provider is called. Returns false if the account has too many unpaid ones. The wallet's lock serializes
 * the payments of one account: otherwise many at the same moment could all pass the check.
 */
export async function recordAttempt(database: Kysely<Tables>, row: Insertable<Tables['payments']>, nowMs: number): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await lockWallet(transaction, row.account_id);
    const unpaid = await transaction
      .selectFrom('payments')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .where('account_id', '=', row.account_id)
      .where('created_at', '>', BigInt(nowMs - HOUR_MS))
      .where('status', '<>', 'paid')
      .executeTakeFirstOrThrow();
    if (unpaid.count >= UNPAID_PER_HOUR_MAX) return false;
    await transaction.insertInto('payments').values(row).execute();
    return true;
  });
}

/** A new row of `payments`. */
export type ChargeRow = Insertable<Tables['payments']> & Charge;

/** Writes a charge of a saved card before it is made. Returns false if it is running already, or no longer wanted. */
export async function recordCharge(database: Kysely<Tables>, row: ChargeRow): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await lockWallet(transaction, row.account_id);
    if ((await isCharging(transaction, row)) || !(await isStillWanted(transaction, row))) return false;
    await transaction.insertInto('payments').values(row).execute();
    return true;
  });
}

/** Returns true if this charge was made before, or another one for the same purpose has not ended. */
async function isCharging(transaction: Kysely<Tables>, { id, account_id: accountId, purpose }: ChargeRow): Promise<boolean> {
  const running = await transaction
    .selectFrom('payments')
    .select('id')
    .where('account_id', '=', accountId)
    .where('purpose', '=', purpose)
    .where('method_ref', 'is not', null)
    .where((where) => where.or([where('id', '=', id), where('status', 'in', UNFINISHED)]))
    .executeTakeFirst();
  return running !== undefined;
}

import type { Insertable, Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import { lockWallet } from '../ledger/credit.ts';

/** Card thieves test numbers with small payments. An honest payer needs fewer attempts than this. */
const UNPAID_PER_HOUR_MAX = 10n;

/**
 * Writes a payment before the provider is called. Returns false if the account has too many unpaid ones. The wallet's lock serializes
 * the payments of one account: otherwise many at the same moment could all pass the check.
 */
export async function recordAttempt(database: Kysely<Tables>, row: Insertable<Tables['payments']>, nowMs: number): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
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

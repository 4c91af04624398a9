import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { lockWallet } from '../ledger/credit.ts';

/**
 * Locks the creation and change of keys until the transaction ends, since each of these raises this counter. Code that counts
 * keys before it creates one must call this first: otherwise many at the same moment could all find room.
 */
export async function lockKeys(transaction: Transaction<Tables>, accountId: string): Promise<void> {
  await lockWallet(transaction, accountId);
  await transaction
    .updateTable('changes')
    .set((row) => ({ counter: row.ref('counter') }))
    .execute();
}

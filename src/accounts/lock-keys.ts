import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/**
 * Keeps everybody else from making and changing keys until the transaction ends, since each of them raises this counter. Who counts
 * keys before making one does this first: many at the same moment could else all find room.
 */
export async function lockKeys(transaction: Transaction<Tables>): Promise<void> {
  await transaction
    .updateTable('changes')
    .set((row) => ({ counter: row.ref('counter') }))
    .execute();
}

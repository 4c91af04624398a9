import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

const NOBODY = '';

/**
 * Gives up the holds of this node that are older than any request can be, so that the next recovery settles them like those of
 * a dead process; gives their requests. There should be none: a database that has lost its newest transactions, because it was
 * replaced by an older copy, has them.
 */
export async function giveUpOldHolds(database: Kysely<Tables>, nodeId: string, createdBeforeMs: number): Promise<string[]> {
  const holds = await database
    .updateTable('holds')
    .set({ node_id: NOBODY })
    .where('node_id', '=', nodeId)
    .where('created_at', '<', BigInt(createdBeforeMs))
    .returning('id')
    .execute();
  return holds.map(({ id }) => id);
}

import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

const NOBODY = '';

/** Which holds may be given up. */
interface OldHolds {
  readonly nodeId: string;
  readonly createdBeforeMs: number;
  /** Whether a request still runs: only the clock, which was set forward meanwhile, says that it is old. */
  readonly isRunning: (requestId: string) => boolean;
}

/**
 * Gives up the holds of this node that are older than any request can be, so that the next recovery settles them like those of
 * a dead process; gives their requests. There should be none: a database that has lost its newest transactions, because it was
 * replaced by an older copy, has them.
 */
export async function giveUpOldHolds(database: Kysely<Tables>, { nodeId, createdBeforeMs, isRunning }: OldHolds): Promise<string[]> {
  const old = database.selectFrom('holds').select('id').where('node_id', '=', nodeId).where('created_at', '<', BigInt(createdBeforeMs));
  const ids = (await old.execute()).map(({ id }) => id).filter((id) => !isRunning(id));
  if (ids.length === 0) return [];
  const holds = await database.updateTable('holds').set({ node_id: NOBODY }).where('id', 'in', ids).returning('id').execute();
  return holds.map(({ id }) => id);
}

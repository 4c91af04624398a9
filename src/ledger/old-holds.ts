import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

const NOBODY = '';

/** Which holds to abandon. */
interface OldHolds {
  readonly nodeId: string;
  readonly createdBeforeMs: number;
  /** True for a request that still runs: if the clock was set forward, its hold only looks old. */
  readonly isRunning: (requestId: string) => boolean;
}

/**
 * Abandons the holds of this node that are older than any request can be, so that the next recovery settles them like those of a dead
 * process. Returns their request ids. Normally there are none. They appear when the database was replaced by an older copy and lost its
 * newest transactions.
 */
export async function abandonHoldsBefore(database: Kysely<Tables>, { nodeId, createdBeforeMs, isRunning }: OldHolds): Promise<string[]> {
  const old = database.selectFrom('holds').select('id').where('node_id', '=', nodeId).where('created_at', '<', BigInt(createdBeforeMs));
  const ids = (await old.execute()).map(({ id }) => id).filter((id) => !isRunning(id));
  if (ids.length === 0) return [];
  const holds = await database.updateTable('holds').set({ node_id: NOBODY }).where('id', 'in', ids).returning('id').execute();
  return holds.map(({ id }) => id);
}

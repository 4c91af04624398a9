import { sql } from 'kysely';
import type { OpenDatabase } from './connect.ts';

/** What operators see about the database. */
export interface DatabaseState {
  readonly bytes: number;
  /** The live nodes and their last heartbeat. Only where there can be several. */
  readonly nodes: readonly { readonly id: string; readonly seenAtMs: number }[] | undefined;
}

/** Reads the size of the database and the nodes that run on it. */
export async function readDatabaseState({ kysely, dialect }: OpenDatabase): Promise<DatabaseState> {
  if (dialect === 'sqlite') {
    const size = sql<{ bytes: bigint }>`SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`;
    return { bytes: Number((await size.execute(kysely)).rows[0]?.bytes ?? 0n), nodes: undefined };
  }
  const size = await sql<{ bytes: bigint }>`SELECT pg_database_size(current_database()) AS bytes`.execute(kysely);
  const nodes = await kysely
    .selectFrom('nodes')
    .select(['node_id', 'heartbeat'])
    .where('heartbeat', '>', sql<bigint>`clock_ms() - 30000`)
    .orderBy('node_id')
    .execute();
  return {
    bytes: Number(size.rows[0]?.bytes ?? 0n),
    nodes: nodes.map(({ node_id: id, heartbeat }) => ({ id, seenAtMs: Number(heartbeat) })),
  };
}

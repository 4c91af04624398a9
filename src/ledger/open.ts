import type { DatabasePlace } from '../database/connect.ts';
import { GroupCommitLedger } from './group-commit.ts';
import type { OnFailure } from './sqlite.ts';

/** Opens the ledger on the configured database. `nodeId` must be new at every start: it marks which holds belong to this process. */
export async function openLedger(
  { databaseUrl, databasePath }: DatabasePlace,
  nodeId: string,
  onFailure: OnFailure,
): Promise<GroupCommitLedger> {
  const store =
    databaseUrl === undefined
      ? (await import('./sqlite.ts')).openSqliteStore(databasePath, nodeId, { onFailure })
      : (await import('./postgres.ts')).openPostgresStore(databaseUrl, nodeId);
  return new GroupCommitLedger(store);
}

import type { DatabasePlace } from '../database/connect.ts';
import { GroupCommitLedger } from './group-commit.ts';

/** Opens the ledger where the database is. `nodeId` must be new with every start: it marks whose holds are whose. */
export async function openLedger({ databaseUrl, databasePath }: DatabasePlace, nodeId: string): Promise<GroupCommitLedger> {
  const store =
    databaseUrl === undefined
      ? (await import('./sqlite.ts')).openSqliteStore(databasePath, nodeId)
      : (await import('./postgres.ts')).openPostgresStore(databaseUrl, nodeId);
  return new GroupCommitLedger(store);
}

import type { DatabasePlace } from '../database/connect.ts';
import { GroupCommitLedger } from './group-commit.ts';
import type { Tell } from './sqlite.ts';

/** Opens the ledger where the database is. `nodeId` must be new with every start: it marks whose holds are whose. */
export async function openLedger({ databaseUrl, databasePath }: DatabasePlace, nodeId: string, tell: Tell): Promise<GroupCommitLedger> {
  const store =
    databaseUrl === undefined
      ? (await import('./sqlite.ts')).openSqliteStore(databasePath, nodeId, { tell })
      : (await import('./postgres.ts')).openPostgresStore(databaseUrl, nodeId);
  return new GroupCommitLedger(store);
}

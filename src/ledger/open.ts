import type { DatabasePlace } from '../database/connect.ts';
import { GroupCommitLedger } from './group-commit.ts';
import type { SetAside } from './ledger.ts';

/** Where the ledger reports to the operator. */
interface LedgerLog {
  internalError(event: string, error: unknown): void;
  setAside(operation: SetAside): void;
}

/** Opens the ledger on the configured database. `nodeId` must be new at every start: it marks which holds belong to this process. */
export async function openLedger({ databaseUrl, databasePath }: DatabasePlace, nodeId: string, log: LedgerLog): Promise<GroupCommitLedger> {
  const store =
    databaseUrl === undefined
      ? (await import('./sqlite.ts')).openSqliteStore(databasePath, nodeId, {
          onFailure: (event, error) => log.internalError(event, error),
        })
      : (await import('./postgres.ts')).openPostgresStore(databaseUrl, nodeId);
  return new GroupCommitLedger(store, undefined, (operation) => log.setAside(operation));
}

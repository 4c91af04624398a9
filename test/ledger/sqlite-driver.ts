import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/ledger/sqlite.ts';
import type { LedgerDriver } from '../conformance/ledger-driver.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';

/** Nothing in a suite should be reported to an operator. */
const failTest = (event: string, failure: Error): never => {
  throw new Error(event, { cause: failure });
};

/** The embedded database in its own folder. */
export const sqlite: LedgerDriver = {
  name: 'SQLite',
  dialect: 'sqlite',
  make: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
    const databasePath = join(folder, 'tollgate.db');
    await placeMigratedDatabase(databasePath);
    return { place: { databaseUrl: undefined, databasePath }, remove: async () => rmSync(folder, { recursive: true }) };
  },
  openStore: async ({ databasePath }, nodeId) => openSqliteStore(databasePath, nodeId, { onFailure: failTest }),
};

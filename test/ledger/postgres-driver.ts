import { openPostgresStore } from '../../src/ledger/postgres.ts';
import type { LedgerDriver } from '../conformance/ledger-driver.ts';
import { createMigratedDatabase } from '../services/postgres.ts';

/** Uses a separate database on the shared server. */
export const postgres: LedgerDriver = {
  name: 'PostgreSQL',
  dialect: 'postgres',
  make: async () => {
    const database = await createMigratedDatabase();
    return { place: { databaseUrl: database.url, databasePath: '' }, remove: () => database.drop() };
  },
  openStore: async ({ databaseUrl = '' }, nodeId) => openPostgresStore(databaseUrl, nodeId),
};

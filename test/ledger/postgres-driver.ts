import { openPostgresStore } from '../../src/ledger/postgres.ts';
import type { LedgerDriver } from '../conformance/ledger-driver.ts';
import { createDatabase } from '../services/postgres.ts';

/** A database of its own on the shared server. */
export const postgres: LedgerDriver = {
  name: 'PostgreSQL',
  dialect: 'postgres',
  make: async () => {
    const { url, drop } = await createDatabase();
    return { place: { databaseUrl: url, databasePath: '' }, remove: drop };
  },
  openStore: async ({ databaseUrl = '' }, nodeId) => openPostgresStore(databaseUrl, nodeId),
};

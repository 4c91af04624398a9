import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { createMigratedDatabase, postgresUrl } from '../services/postgres.ts';

/** A suite's own database, with the current schema. */
export interface OpenStore extends OpenDatabase {
  /** The folder of the embedded database. */
  readonly folder: string;
  readonly databaseUrl: string | undefined;
  readonly databasePath: string;
  close(): Promise<void>;
}

/** The two supported databases. */
export const STORES: readonly { readonly name: string; readonly isMissing: boolean; readonly open: () => Promise<OpenStore> }[] = [
  { name: 'SQLite', isMissing: false, open: () => openStore(undefined, async () => undefined) },
  {
    name: 'PostgreSQL',
    isMissing: postgresUrl === undefined,
    open: async () => {
      const database = await createMigratedDatabase();
      return openStore(database.url, () => database.drop());
    },
  },
];

async function openStore(databaseUrl: string | undefined, drop: () => Promise<void>): Promise<OpenStore> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'));
  const databasePath = join(folder, 'tollgate.db');
  if (databaseUrl === undefined) await placeMigratedDatabase(databasePath);
  const opened = await connect({ databaseUrl, databasePath });
  await migrate(opened.kysely, opened.dialect);
  return {
    ...opened,
    folder,
    databaseUrl,
    databasePath,
    close: async () => {
      await opened.kysely.destroy();
      await drop();
      rmSync(folder, { recursive: true });
    },
  };
}

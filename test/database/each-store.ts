import { afterAll, beforeAll, describe } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { createMigratedDatabase, postgresUrl, type TestDatabase } from '../services/postgres.ts';

const STATEMENT_MS = 20_000;

/** Runs a suite on both databases, each new and migrated. The database exists only once the tests run. */
export function eachStore(suite: (database: () => OpenDatabase) => void): void {
  for (const name of ['the embedded database', 'PostgreSQL'] as const) {
    describe.skipIf(name === 'PostgreSQL' && postgresUrl === undefined)(`on ${name}`, () => {
      let folder: string;
      let own: TestDatabase | undefined;
      let opened: OpenDatabase;
      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'));
        own = name === 'PostgreSQL' ? await createMigratedDatabase() : undefined;
        const databasePath = join(folder, 'tollgate.db');
        if (own === undefined) await placeMigratedDatabase(databasePath);
        opened = await connect({ databaseUrl: own?.url, databasePath }, STATEMENT_MS);
        await migrate(opened.kysely, opened.dialect);
      });
      afterAll(async () => {
        await opened.kysely.destroy();
        await own?.drop();
        rmSync(folder, { recursive: true });
      });
      suite(() => opened);
    });
  }
}

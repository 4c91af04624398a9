import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'bun:test';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { createMigratedDatabase, postgresUrl } from '../services/postgres.ts';

/** A database without rows: embedded or PostgreSQL. */
export interface Store {
  readonly databaseUrl: string | undefined;
  readonly databasePath: string;
  remove(): Promise<void>;
}

/** Runs a suite on the embedded database and on PostgreSQL. */
export function describeStores(suite: (makeStore: () => Promise<Store>) => void): void {
  describe('on the embedded database', () => suite(makeSqlite));
  describe.skipIf(postgresUrl === undefined)('on PostgreSQL', () => suite(makePostgres));
}

/** Runs a suite on the embedded database only: for tests of pages, whose SQL is tested on both databases elsewhere. */
export function describeEmbedded(suite: (makeStore: () => Promise<Store>) => void): void {
  describe('on the embedded database', () => suite(makeSqlite));
}

/** Creates an embedded database without rows. */
export async function makeSqlite(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-dashboard-'));
  const databasePath = join(folder, 'tollgate.db');
  await placeMigratedDatabase(databasePath);
  return { databaseUrl: undefined, databasePath, remove: async () => rmSync(folder, { recursive: true }) };
}

async function makePostgres(): Promise<Store> {
  const database = await createMigratedDatabase();
  return { databaseUrl: database.url, databasePath: '', remove: () => database.drop() };
}

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';

/**
 * Creates an embedded database with the current schema unless there is one: a copy of one that is migrated once, which takes a twentieth
 * of the time.
 */
export async function placeMigratedDatabase(path: string): Promise<void> {
  if (existsSync(path)) return;
  original ??= readMigrated();
  const bytes = await original;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, bytes, { mode: 0o600 });
}

let original: Promise<Uint8Array> | undefined;

async function readMigrated(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-original-'));
  const databasePath = join(folder, 'tollgate.db');
  const { kysely, dialect } = await connect({ databaseUrl: undefined, databasePath });
  await migrate(kysely, dialect);
  await kysely.destroy();
  const bytes = readFileSync(databasePath);
  rmSync(folder, { recursive: true });
  return bytes;
}

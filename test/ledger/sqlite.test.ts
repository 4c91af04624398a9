import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataFolder } from '../../src/database/sqlite.ts';
import { testLedgerStore } from '../conformance/ledger-store.ts';
import { sqlite } from './sqlite-driver.ts';

test('a second server on the same data folder is locked out until the first ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
  const first = lockDataFolder(folder);
  expect(first).toBeDefined();
  expect(lockDataFolder(folder)).toBeUndefined();
  first?.unlock();
  const third = lockDataFolder(folder);
  expect(third).toBeDefined();
  third?.unlock();
  rmSync(folder, { recursive: true });
});

testLedgerStore(sqlite);

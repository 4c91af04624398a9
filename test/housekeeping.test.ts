import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config.ts';
import { connect } from '../src/database/connect.ts';
import { verifyChanged } from '../src/housekeeping.ts';
import { GroupCommitLedger } from '../src/ledger/group-commit.ts';

test('accounts whose verification fails are verified the next time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-house-'));
  const config = loadConfig({ TOLLGATE_DATA: folder });
  const ledger = new GroupCommitLedger({ apply: async () => [], close: async () => undefined } as never);
  ledger.markChanged(['acct_one', 'acct_two']);
  const { kysely } = await connect(config);
  await kysely.destroy();
  const house = { config, ledger, database: { kysely, dialect: 'postgres' } } as unknown as Parameters<typeof verifyChanged>[0];
  expect(await verifyChanged(house).catch(() => 'failed')).toBe('failed');
  expect(ledger.takeChanged()).toEqual(['acct_one', 'acct_two']);
  rmSync(folder, { recursive: true, force: true });
});

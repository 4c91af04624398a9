import { expect, test } from 'bun:test';
import { measureLedger } from '../../bench/ledger.ts';

const LIMIT_MS = 60_000;

test('the ledger benchmark works with the current tables', async () => {
  const [figures] = await measureLedger(() => undefined, { sizes: [10], batches: 10 });
  expect(figures).toMatchObject({ rows: 10, requestMicros: expect.any(Number), statementMs: expect.any(Number) });
});

test.each(['bench.ts', 'accounts.ts', 'dashboard.ts'])('bench/%s explains itself, and refuses what it does not know', (file) => {
  const run = (parameter: string) => Bun.spawnSync([process.execPath, `bench/${file}`, parameter], { timeout: LIMIT_MS });
  const help = run('--help');
  expect(help.stdout.toString()).toContain('Usage: ');
  expect(help.exitCode).toBe(0);
  const refused = run('nonsense');
  expect(refused.stderr.toString()).toContain('nonsense');
  expect(refused.exitCode).toBe(1);
});

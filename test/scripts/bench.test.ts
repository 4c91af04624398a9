import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { gate } from '../../bench/candidates/gate.ts';
import { measureLedger } from '../../bench/ledger.ts';
import { openLedger } from '../../bench/peers/plain-ledger.ts';
import { Stage } from '../../bench/stage.ts';
import { startUpstream } from '../../bench/start-upstream.ts';
import { verifyEndpoint } from '../../bench/verify.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { Books } from '../conformance/ledger-driver.ts';
import { holdOf, settleOf } from '../ledger/operations.ts';
import { sqlite } from '../ledger/sqlite-driver.ts';

const LIMIT_MS = 60_000;

test('the ledger benchmark works with the current tables', async () => {
  const [figures] = await measureLedger(() => undefined, { sizes: [10], batches: 10 });
  expect(figures).toMatchObject({ rows: 10, requestMicros: expect.any(Number), statementMs: expect.any(Number) });
});

test.skipIf(process.platform !== 'linux')(
  'the gate without the ledger answers requests and charges for them, but records nothing else',
  async () => {
    const stage = new Stage();
    try {
      const upstream = await startUpstream(stage, 0);
      const running = await gate.start(stage, upstream.origin);
      if (running.type !== 'running') throw new Error(running.reason);
      await verifyEndpoint(running.endpoint, 0);
      const [path = ''] = new Bun.Glob('*/data/tollgate.db').scanSync(stage.folder);
      const database = openSqlite(join(stage.folder, path));
      const rows = database.query('SELECT SUM(debits_posted) > 0 AS isCharged, (SELECT COUNT(*) FROM usage) AS uses FROM wallets').get();
      database.close();
      expect(rows).toEqual({ isCharged: 1n, uses: 0n });
    } finally {
      await stage.clear();
    }
  },
  LIMIT_MS,
);

test('its plain balance holds, charges and refuses', async () => {
  const books = await Books.open(sqlite);
  try {
    const owner = await books.makeOwner(1000n);
    const ledger = openLedger(books.place);
    const hold = (id: string, amount: bigint, minimum = amount) => ledger.hold(holdOf(owner, id, { amount, minimum }).hold);
    const settle = (id: string, cost: bigint) => ledger.settle(settleOf(owner, id, { cost }).settlement);
    expect(await hold('a', 600n)).toEqual({ type: 'held', amount: asNanos(600n) });
    expect(await hold('b', 600n)).toEqual({ type: 'insufficient_funds', available: asNanos(400n) });
    expect(await hold('b', 600n, 1n)).toEqual({ type: 'held', amount: asNanos(400n) });
    expect(await settle('a', 250n)).toBe('settled');
    expect(await settle('a', 250n)).toBe('resolved_before');
    expect(await settle('b', 0n)).toBe('settled');
    expect(await hold('c', 1000n, 1n)).toEqual({ type: 'held', amount: asNanos(750n) });
    await ledger.close();
  } finally {
    await books.close();
  }
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

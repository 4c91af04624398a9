import { expect, test } from 'bun:test';
import { measureLedger } from '../../bench/ledger.ts';

test('the ledger benchmark works with the current tables', async () => {
  const [figures] = await measureLedger(() => undefined, { sizes: [10], batches: 10 });
  expect(figures).toMatchObject({ rows: 10, requestMicros: expect.any(Number), statementMs: expect.any(Number) });
});

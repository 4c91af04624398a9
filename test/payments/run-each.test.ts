import { expect, test } from 'bun:test';
import { runEach } from '../../src/payments/run-each.ts';
import { turnsDuring } from '../turns-during.ts';

test('yields to other work between items, even if each one finishes at once', async () => {
  expect(await turnsDuring(() => runEach(Array.from({ length: 10 }), async () => undefined))).toBeGreaterThanOrEqual(9);
});

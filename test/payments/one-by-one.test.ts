import { expect, test } from 'bun:test';
import { oneByOne } from '../../src/payments/one-by-one.ts';
import { turnsDuring } from '../turns-during.ts';

test('yields to other work between items, even if each one finishes at once', async () => {
  expect(await turnsDuring(() => oneByOne(Array.from({ length: 10 }), async () => undefined))).toBeGreaterThanOrEqual(9);
});

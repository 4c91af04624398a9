import { expect, test } from 'bun:test';
import { oneByOne } from '../../src/payments/one-by-one.ts';
import { turnsDuring } from '../turns-during.ts';

test('between one thing and the next others have their turn, also where all is answered at once', async () => {
  expect(await turnsDuring(() => oneByOne(Array.from({ length: 10 }), async () => undefined))).toBeGreaterThanOrEqual(9);
});

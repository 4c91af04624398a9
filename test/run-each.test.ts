import { expect, test } from 'bun:test';
import { runEach } from '../src/run-each.ts';
import { turnsDuring } from './turns-during.ts';

test('yields to other work between items, even if each one finishes at once', async () => {
  expect(await turnsDuring(() => runEach(Array.from({ length: 10 }), async () => undefined))).toBeGreaterThanOrEqual(9);
});

test('works on some items at once, on each of them once, and tells of the first failure at the end', async () => {
  const done: number[] = [];
  let running = 0;
  let mostRunning = 0;
  const work = async (item: number): Promise<void> => {
    mostRunning = Math.max(mostRunning, ++running);
    await Bun.sleep(1);
    running -= 1;
    done.push(item);
    if (item % 5 === 2) throw new Error(`item ${item}`);
  };
  const items = Array.from({ length: 20 }, (_, index) => index);
  await expect(runEach(items, work, 3)).rejects.toThrow(/^item 2$/u);
  expect(done.toSorted((one, other) => one - other)).toEqual(items);
  expect(mostRunning).toBe(3);
});

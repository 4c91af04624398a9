import { expect, test } from 'bun:test';
import type { Admission } from '../../src/limits/limits.ts';
import { MemoryLimits } from '../../src/limits/memory.ts';
import { describeLimits } from '../conformance/limits.ts';

describeLimits('limits in memory', async (now) => new MemoryLimits(now));

test('a key is dropped from memory only when its token debt is paid and its buckets are full', async () => {
  const limits = { requestsPerMinute: 10, tokensPerMinute: 1000, concurrent: 5 };
  const minuteMs = 60_000;
  let nowMs = 0;
  const memory = new MemoryLimits(() => nowMs);
  const use = async (keyId: string, tokens: number): Promise<void> =>
    ((await memory.admit(keyId, limits, 10)) as Admission).release(tokens);
  /** Sets the clock back to when the key was used. A key in memory has its state of then; a dropped one is full. */
  const leftThen = async (minutes: number): Promise<number> => {
    nowMs = minutes * minuteMs;
    await use('another', 10);
    nowMs = 0;
    return (await memory.stateOf('debtor', limits)).remainingTokens;
  };
  await use('debtor', 3000);
  expect(await leftThen(2)).toBe(0);
  expect(await leftThen(4)).toBe(limits.tokensPerMinute);
});

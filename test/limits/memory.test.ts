import { beforeEach, describe, expect, test } from 'bun:test';
import type { Admission, Refusal } from '../../src/limits/limits.ts';
import { MemoryLimits } from '../../src/limits/memory.ts';

const LIMITS = { requestsPerMinute: 60, tokensPerMinute: 6000, concurrent: 3 };

describe('limits in memory', () => {
  let nowMs: number;
  let limits: MemoryLimits;

  beforeEach(() => {
    nowMs = 1_000_000;
    limits = new MemoryLimits(() => nowMs);
  });

  const admit = (tokens = 0, keyId = 'key_1') => limits.admit(keyId, LIMITS, tokens);
  const passThrough = async (tokens = 0) => admitted(await admit(tokens)).release(tokens);

  test('lets a minute of requests in at once and then one a second', async () => {
    for (let count = 0; count < 60; count += 1) await passThrough();
    expect(refused(await admit())).toMatchObject({ limit: 'requests', retryAfterMs: 1000 });
    nowMs += 999;
    expect((await admit()).type).toBe('refused');
    nowMs += 1;
    await passThrough();
  });

  test('tells where the key stands', async () => {
    expect(admitted(await admit(600)).state).toEqual({
      limits: LIMITS,
      remainingRequests: 59,
      remainingTokens: 5400,
      resetRequestsMs: 1000,
      resetTokensMs: 6000,
    });
  });

  test('counts the tokens that were really used, not the guess', async () => {
    admitted(await admit(100)).release(6000);
    expect(refused(await admit(1))).toMatchObject({ limit: 'tokens', retryAfterMs: 10 });
    nowMs += 600;
    await passThrough(50);
  });

  test('a request that used more than the whole minute delays the next ones by as much', async () => {
    admitted(await admit(100)).release(12_000);
    expect(refused(await admit(0)).retryAfterMs).toBe(60_000);
  });

  test('a request that can never fit is told not to wait', async () => {
    expect(refused(await admit(6001))).toMatchObject({ limit: 'tokens', retryAfterMs: undefined });
  });

  test('open requests are bounded, and a release makes room exactly once', async () => {
    const open = [admitted(await admit()), admitted(await admit()), admitted(await admit())];
    expect(refused(await admit())).toMatchObject({ limit: 'concurrent', retryAfterMs: 1000 });
    open[0]?.release(0);
    open[0]?.release(0);
    await admit();
    expect((await admit()).type).toBe('refused');
  });

  test('keys do not share their limits', async () => {
    for (let count = 0; count < 60; count += 1) await passThrough();
    expect((await admit(0, 'key_2')).type).toBe('admitted');
  });

  test('forgetting idle keys does not forgive a debt', async () => {
    admitted(await admit(0)).release(60_000);
    nowMs += 3 * 60_000;
    await admit(0, 'key_2');
    expect((await admit(0)).type).toBe('refused');
  });
});

function admitted(result: Admission | Refusal): Admission {
  if (result.type !== 'admitted') throw new Error(`refused by ${result.limit}`);
  return result;
}

function refused(result: Admission | Refusal): Refusal {
  if (result.type !== 'refused') throw new Error('admitted');
  return result;
}

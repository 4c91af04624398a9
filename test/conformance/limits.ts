import { beforeEach, describe, expect, test } from 'bun:test';
import type { Admission, Limits, LimitRefusal } from '../../src/limits/limits.ts';

export const LIMITS = { requestsPerMinute: 60, tokensPerMinute: 6000, concurrent: 3 };

/** What limits must do wherever they are stored. `open` returns fresh limits that use this clock. */
export function describeLimits(title: string, open: (now: () => number) => Promise<Limits>): void {
  describe(title, () => {
    let nowMs: number;
    let keyId: string;
    let limits: Limits;

    beforeEach(async () => {
      nowMs = 10_000_000;
      keyId = crypto.randomUUID();
      limits = await open(() => nowMs);
    });

    const admit = (tokens = 0, key = keyId) => limits.admit(key, LIMITS, tokens);
    const passThrough = async (tokens = 0) => admitted(await admit(tokens)).release(tokens);

    test('admits a minute of requests at once and then one a second', async () => {
      for (let count = 0; count < 60; count += 1) await passThrough();
      expect(refused(await admit())).toMatchObject({ limit: 'requests', retryAfterMs: 1000 });
      nowMs += 999;
      expect((await admit()).type).toBe('refused');
      nowMs += 1;
      await passThrough();
    });

    test('refills at its usual pace after the clock was set back', async () => {
      for (let count = 0; count < 60; count += 1) await passThrough();
      nowMs -= 3_600_000;
      expect(refused(await admit())).toMatchObject({ limit: 'requests', retryAfterMs: 1000 });
      nowMs += 1000;
      await passThrough();
      expect((await admit()).type).toBe('refused');
    });

    test('reports the state of a key', async () => {
      const state = { limits: LIMITS, remainingRequests: 59, remainingTokens: 5400, resetRequestsMs: 1000, resetTokensMs: 6000 };
      expect(admitted(await admit(600)).state).toEqual(state);
      expect(await limits.stateOf(keyId, LIMITS)).toEqual({ ...state, open: 1 });
      nowMs += 1000;
      expect(await limits.stateOf(keyId, LIMITS)).toMatchObject({ remainingRequests: 60, remainingTokens: 5500, open: 1 });
    });

    test('inspecting an unused key finds the full limit and uses nothing', async () => {
      const untouched = { limits: LIMITS, remainingRequests: 60, remainingTokens: 6000, resetRequestsMs: 0, resetTokensMs: 0, open: 0 };
      expect(await limits.stateOf(keyId, LIMITS)).toEqual(untouched);
      expect(await limits.stateOf(keyId, LIMITS)).toEqual(untouched);
    });

    test('counts the tokens actually used, not the estimate', async () => {
      admitted(await admit(100)).release(6000);
      expect(refused(await admit(1))).toMatchObject({ limit: 'tokens', retryAfterMs: 10 });
      nowMs += 600;
      await passThrough(50);
    });

    test('a request that used more than a whole minute delays the next ones accordingly', async () => {
      admitted(await admit(100)).release(12_000);
      expect(refused(await admit(0)).retryAfterMs).toBe(60_000);
    });

    test('idle time with a full limit does not pay for later use', async () => {
      const long = admitted(await admit(0));
      nowMs += 60 * 60_000;
      long.release(12_000);
      expect(refused(await admit(0)).retryAfterMs).toBe(60_000);
    });

    test('a request that can never fit gets no time to wait', async () => {
      expect(refused(await admit(6001))).toMatchObject({ limit: 'tokens', retryAfterMs: undefined });
    });

    test('open requests are limited, and a release frees a place exactly once', async () => {
      const going = [admitted(await admit()), admitted(await admit()), admitted(await admit())];
      expect(refused(await admit())).toMatchObject({ limit: 'concurrent', retryAfterMs: 1000 });
      going[0]?.release(0);
      going[0]?.release(0);
      await admit();
      expect((await admit()).type).toBe('refused');
    });

    test('a lowered limit applies from the next request on', async () => {
      await passThrough();
      const lower = { ...LIMITS, requestsPerMinute: 1, tokensPerMinute: 10 };
      expect(admitted(await limits.admit(keyId, lower, 0)).state).toMatchObject({ remainingRequests: 0, remainingTokens: 10 });
      expect(refused(await limits.admit(keyId, lower, 0)).limit).toBe('requests');
    });

    test('keys do not share their limits', async () => {
      for (let count = 0; count < 60; count += 1) await passThrough();
      expect((await admit(0, `${keyId}-other`)).type).toBe('admitted');
    });

    test('dropping idle keys does not forgive a debt', async () => {
      admitted(await admit(0)).release(60_000);
      nowMs += 3 * 60_000;
      await admit(0, `${keyId}-other`);
      expect((await admit(0)).type).toBe('refused');
    });
  });
}

export function admitted(result: Admission | LimitRefusal): Admission {
  if (result.type !== 'admitted') throw new Error(`refused by ${result.limit}`);
  return result;
}

export function refused(result: Admission | LimitRefusal): LimitRefusal {
  if (result.type !== 'refused') throw new Error('admitted');
  return result;
}

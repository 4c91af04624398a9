import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RedisClient } from 'bun';
import type { Admission, Limits } from '../../src/limits/limits.ts';
import { MemoryLimits } from '../../src/limits/memory.ts';
import { RedisLimits, type RedisLimitsOptions } from '../../src/limits/redis.ts';
import { admitted, describeLimits, LIMITS, refused } from '../conformance/limits.ts';
import { until } from '../until.ts';
import type { PrivateRedis } from '../services/private-redis.ts';
import { findRedis, redisUrl, startPrivateRedis } from '../services/redis.ts';

const SILENT = { onAway: () => undefined, onBack: () => undefined };
const opened: Limits[] = [];

async function open(options: Partial<RedisLimitsOptions> = {}, url = redisUrl ?? ''): Promise<RedisLimits> {
  // Generous, because late answers are the subject of another test.
  const limits = await RedisLimits.open(url, { ...SILENT, answerMs: 10_000, ...options });
  opened.push(limits);
  return limits;
}

afterEach(async () => {
  for (const limits of opened.splice(0)) await limits.close();
});

describe.skipIf(redisUrl === undefined)('Redis', () => {
  describeLimits('limits', (now) => open({ now }));

  test('gives the same results as memory for any sequence of operations', async () => {
    type Step = { admit: number; key: 'a' | 'b' } | { release: number; used: number } | { passMs: number };
    const steps = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.record({ admit: fc.integer({ min: 0, max: 7000 }), key: fc.constantFrom('a' as const, 'b' as const) }) },
        { weight: 4, arbitrary: fc.record({ release: fc.nat(), used: fc.integer({ min: 0, max: 9000 }) }) },
        { weight: 3, arbitrary: fc.record({ passMs: fc.integer({ min: -500, max: 40_000 }) }) },
      ),
      { minLength: 10, maxLength: 60 },
    );
    let nowMs = 1_000_000;
    const now = (): number => nowMs;
    const away: unknown[] = [];
    const shared = await open({ now, leaseMs: 1_000_000_000, onAway: (failure) => void away.push(failure) });
    const run = async (limits: Limits, name: string, list: readonly Step[]): Promise<unknown[]> => {
      nowMs = 1_000_000;
      const going: Admission[] = [];
      const said: unknown[] = [];
      for (const step of list) {
        if ('passMs' in step) nowMs += step.passMs;
        else if ('admit' in step) {
          const result = await limits.admit(`${name}-${step.key}`, LIMITS, step.admit);
          if (result.type === 'admitted') going.push(result);
          said.push({ ...result, release: undefined }, await limits.stateOf(`${name}-${step.key}`, LIMITS));
        } else going.splice(step.release % Math.max(1, going.length), 1)[0]?.release(step.used);
      }
      return said;
    };
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const name = crypto.randomUUID();
        expect(await run(shared, name, list)).toEqual(await run(new MemoryLimits(now), name, list));
      }),
      { numRuns: 300 },
    );
    expect(away).toEqual([]);
  }, 120_000);

  test('counts for all nodes together', async () => {
    const nodes = [await open(), await open(), await open()];
    const keyId = crypto.randomUUID();
    const limits = { requestsPerMinute: 20, tokensPerMinute: 1000, concurrent: 1000 };
    const results = await Promise.all(Array.from({ length: 60 }, (_, index) => nodes[index % 3]?.admit(keyId, limits, 10)));
    expect(results.filter((result) => result?.type === 'admitted')).toHaveLength(20);
  });

  test('never has more requests open than allowed, however many nodes race for the slots', async () => {
    const nodes = [await open(), await open(), await open()];
    const keyId = crypto.randomUUID();
    const limits = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000, concurrent: 5 };
    let going = 0;
    let most = 0;
    let served = 0;
    const work = async (node: Limits | undefined): Promise<void> => {
      for (let turn = 0; turn < 40; turn += 1) {
        const result = await node?.admit(keyId, limits, 1);
        if (result?.type !== 'admitted') continue;
        going += 1;
        served += 1;
        most = Math.max(most, going);
        await Bun.sleep(0);
        going -= 1;
        result.release(1);
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, index) => work(nodes[index % 3])));
    expect(most).toBeLessThanOrEqual(5);
    expect(served).toBeGreaterThan(5);
    // No request waits for a release, but each node's commands run in order.
    for (const node of nodes) await node.stateOf(keyId, limits);
    expect((await nodes[0]?.stateOf(keyId, limits))?.open).toBe(0);
  });

  test('frees the slots of a dead node, and keeps those of a living one', async () => {
    const leaseMs = 600;
    const [dead, living, other] = [await open({ leaseMs }), await open({ leaseMs }), await open({ leaseMs })];
    const keyId = crypto.randomUUID();
    admitted(await dead.admit(keyId, LIMITS, 0));
    admitted(await dead.admit(keyId, LIMITS, 0));
    const long = admitted(await living.admit(keyId, LIMITS, 0));
    await dead.close();
    expect(refused(await other.admit(keyId, LIMITS, 0)).limit).toBe('concurrent');
    await until(async () => (await other.stateOf(keyId, LIMITS)).open === 1);
    long.release(0);
    expect((await living.stateOf(keyId, LIMITS)).open).toBe(0);
  });

  test('keeps nothing forever: every entry expires', async () => {
    const limits = await open();
    const keyId = crypto.randomUUID();
    admitted(await limits.admit(keyId, LIMITS, 100));
    const client = new RedisClient(redisUrl ?? '');
    const names = (await client.send('KEYS', [`tollgate:*${keyId}*`])) as string[];
    expect(names).toHaveLength(2);
    for (const name of names) expect(await client.send('PTTL', [name])).toBeGreaterThan(0);
    client.close();
  });
});

describe.skipIf((await findRedis()) === undefined)('a Redis that fails', () => {
  const ANSWERED_WITHIN_MS = 2500;
  /** A server that was available for less than a minute is retried after two seconds. */
  const RETRIED_AFTER_MS = 2500;
  let server: PrivateRedis;
  const events: string[] = [];
  const listener = { onAway: (failure: unknown) => void events.push(`away: ${String(failure)}`), onBack: () => void events.push('back') };

  beforeAll(async () => {
    server = await startPrivateRedis();
  });
  afterAll(() => server.stop());
  afterEach(() => void events.splice(0));

  const timed = async <Result>(work: Promise<Result>): Promise<Result> => {
    const beganAtMs = performance.now();
    const result = await work;
    expect(performance.now() - beganAtMs).toBeLessThan(ANSWERED_WITHIN_MS);
    return result;
  };
  const isBack = () => until(() => events.includes('back'));

  test('is not waited for when it is killed, and counts again when it is back', async () => {
    const limits = await open(listener, server.url);
    const keyId = crypto.randomUUID();
    for (let count = 0; count < 3; count += 1) admitted(await limits.admit(keyId, LIMITS, 0));
    await server.kill();
    // Alone, the node knows nothing of the three open requests, and still enforces the limit by itself.
    for (let count = 0; count < 3; count += 1) admitted(await timed(limits.admit(keyId, LIMITS, 0)));
    expect(refused(await timed(limits.admit(keyId, LIMITS, 0))).limit).toBe('concurrent');
    expect((await timed(limits.stateOf(keyId, LIMITS))).open).toBe(3);
    await server.restart();
    await isBack();
    admitted(await limits.admit(keyId, LIMITS, 0));
    expect((await limits.stateOf(keyId, LIMITS)).open).toBe(1);
    expect(events.map((line) => line.slice(0, 4))).toEqual(['away', 'back']);
  }, 120_000);

  test('delays requests only briefly when it hangs, and soon not at all', async () => {
    const limits = await open({ ...listener, answerMs: 500 }, server.url);
    const keyId = crypto.randomUUID();
    server.stall();
    const results = await timed(Promise.all(Array.from({ length: 50 }, () => limits.admit(keyId, LIMITS, 0))));
    expect(results.filter(({ type }) => type === 'admitted')).toHaveLength(LIMITS.concurrent);
    const beganAtMs = performance.now();
    refused(await limits.admit(keyId, LIMITS, 0));
    expect(performance.now() - beganAtMs).toBeLessThan(500);
    server.resume();
    await isBack();
    expect(events.map((line) => line.slice(0, 4))).toEqual(['away', 'back']);
  }, 120_000);

  test('gets back the slot that a late answer took', async () => {
    const limits = await open({ ...listener, answerMs: 200 }, server.url);
    const patient = await open(SILENT, server.url);
    const keyId = crypto.randomUUID();
    server.stall();
    admitted(await limits.admit(keyId, LIMITS, 500));
    server.resume();
    const isUntouched = async (): Promise<boolean> => {
      const state = await patient.stateOf(keyId, LIMITS);
      return state.open === 0 && state.remainingTokens === LIMITS.tokensPerMinute;
    };
    await until(isUntouched);
    expect(events).toEqual([]);
  }, 120_000);

  test('reports that it has become a replica, once, and each node counts by itself', async () => {
    const failures: unknown[] = [];
    const limits = await open({ ...listener, onAway: (failure) => void failures.push(failure) }, server.url);
    await server.send('REPLICAOF', '127.0.0.1', '1');
    admitted(await limits.admit(crypto.randomUUID(), LIMITS, 0));
    await Bun.sleep(RETRIED_AFTER_MS);
    expect(events).toEqual([]);
    await server.send('REPLICAOF', 'NO', 'ONE');
    await isBack();
    expect(failures).toMatchObject([{ code: 'READONLY' }]);
  }, 120_000);

  test('learns after a short outage which requests have ended', async () => {
    const limits = await open(listener, server.url);
    const keyId = crypto.randomUUID();
    const going = [admitted(await limits.admit(keyId, LIMITS, 500)), admitted(await limits.admit(keyId, LIMITS, 500))];
    await server.send('REPLICAOF', '127.0.0.1', '1');
    for (const each of going) each.release(0);
    await until(() => events.length === 1);
    await server.send('REPLICAOF', 'NO', 'ONE');
    await isBack();
    await until(async () => (await limits.stateOf(keyId, LIMITS)).open === 0);
    expect((await limits.stateOf(keyId, LIMITS)).remainingTokens).toBe(LIMITS.tokensPerMinute);
  }, 120_000);

  test('that has lost everything learns the open requests again', async () => {
    const limits = await open({ ...listener, leaseMs: 600 }, server.url);
    const keyId = crypto.randomUUID();
    const going = admitted(await limits.admit(keyId, LIMITS, 0));
    await server.flush();
    await until(async () => (await limits.stateOf(keyId, LIMITS)).open === 1);
    going.release(0);
    expect((await limits.stateOf(keyId, LIMITS)).open).toBe(0);
    expect(events).toEqual([]);
  }, 120_000);

  test('that is away at the start does not keep a node from starting', async () => {
    const nowhere = 'redis://:c4n4ry@127.0.0.1:1';
    const limits = await timed(open(listener, nowhere));
    admitted(await limits.admit('key', LIMITS, 0));
    expect(events).toHaveLength(1);
    expect(events[0]).not.toContain('c4n4ry');
  });

  test('does not keep a node from stopping', async () => {
    const limits = await open(listener, server.url);
    const going = admitted(await limits.admit('key', LIMITS, 0));
    await limits.close();
    going.release(0);
    await Bun.sleep(50);
    expect(events).toEqual([]);
  });
});

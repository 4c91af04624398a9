import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { postgresUrl } from '../../services/postgres.ts';
import type { PrivateRedis } from '../../services/private-redis.ts';
import { findRedis, startPrivateRedis } from '../../services/redis.ts';
import { ask, errorCodeOf, isFinished, type Asked } from '../ledger/ask.ts';
import { makeChat, obeyMessages } from '../ledger/load.ts';
import type { GatewayNode } from '../ledger/node.ts';
import { openSite, type Site, type SiteKey } from '../ledger/site.ts';
import { until } from '../../until.ts';

const NODES = 3;
const SHORT = { words: 1, gapMs: 0, isStreaming: false };
const LONG = { words: 40, gapMs: 100, isStreaming: true };
const AWAY = 'Redis cannot be reached: this node counts limits by itself';
const BACK = 'Redis is back: limits are counted for all nodes together';
/** Long enough for a busy machine. A later reply makes a node count alone. */
const REDIS_MS = 1000;
/** A hanging Redis is waited for once, then not at all. Includes the request itself on a busy machine. */
const ANSWERED_WITHIN_MS = 6000;

/** With shared limits, three nodes admit as much as one. */
describe.skipIf(postgresUrl === undefined || (await findRedis()) === undefined)('three nodes that share their limits', () => {
  let redis: PrivateRedis;
  let site: Site;
  let nodes: readonly GatewayNode[];

  beforeAll(async () => {
    redis = await startPrivateRedis();
    site = await openSite({ store: 'postgres', redisUrl: redis.url, timeouts: { redis_ms: REDIS_MS } });
    obeyMessages(site.provider);
    nodes = await Promise.all(Array.from({ length: NODES }, () => site.startNode()));
  }, 120_000);
  afterAll(async () => {
    await site.stop();
    await redis.stop();
  }, 120_000);

  /** Sends this many requests at once, spread over the nodes in turn. */
  const askAll = (key: SiteKey, count: number, wish = SHORT): Promise<readonly Asked[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(nodes[index % NODES]?.origin ?? '', key, makeChat(wish))));
  const allLogged = (event: string) => until(() => nodes.every((node) => node.logLines().some((line) => line['msg'] === event)));

  /** Whether each node counts alone, by its own metrics. */
  const alone = () =>
    Promise.all(
      nodes.map(async ({ origin }) => /^tollgate_limits_alone (\d)$/mu.exec(await (await fetch(`${origin}/metrics`)).text())?.[1]),
    );

  test("admit one minute's worth of requests in total, not per node", async () => {
    const key = await site.makeKey('1000', { requestsPerMinute: 12 });
    expect(countsOf(await askAll(key, 36))).toEqual({ ok: 12, '429 rate_limit_exceeded': 24 });
  }, 120_000);

  test('have as many requests open as one node may', async () => {
    const key = await site.makeKey('1000', { concurrent: 4 });
    expect(countsOf(await askAll(key, 12, LONG))).toEqual({ ok: 4, '429 rate_limit_exceeded': 8 });
    expect(countsOf(await askAll(key, 3))).toEqual({ ok: 3 });
  }, 120_000);

  test('continue alone while Redis is dead or hangs, and together when it is back', async () => {
    const key = await site.makeKey('1000', { requestsPerMinute: 5 });
    await redis.kill();
    await allLogged(AWAY);
    expect(await alone()).toEqual(['1', '1', '1']);
    expect(countsOf(await askAll(key, 3 * 8))).toEqual({ ok: 3 * 5, '429 rate_limit_exceeded': 3 * 3 });
    await redis.restart();
    await allLogged(BACK);
    expect(await alone()).toEqual(['0', '0', '0']);
    const other = await site.makeKey('1000', { requestsPerMinute: 5 });
    expect(countsOf(await askAll(other, 3 * 8))).toEqual({ ok: 5, '429 rate_limit_exceeded': 19 });

    redis.stall();
    const third = await site.makeKey('1000', { requestsPerMinute: 5 });
    const beganAtMs = performance.now();
    expect(countsOf(await askAll(third, 3 * 8))).toEqual({ ok: 3 * 5, '429 rate_limit_exceeded': 3 * 3 });
    expect(performance.now() - beganAtMs).toBeLessThan(ANSWERED_WITHIN_MS);
    redis.resume();

    const password = new URL(redis.url).password;
    for (const node of nodes) expect(node.output().includes(password)).toBe(false);
  }, 120_000);

  test('exit cleanly when stopped, and the ledger is right', async () => {
    const exits = await Promise.all(nodes.map((node) => node.terminate()));
    expect(exits).toEqual([0, 0, 0]);
    await site.verify();
  }, 120_000);
});

function countsOf(answers: readonly Asked[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const name = isFinished(answer) ? 'ok' : `${answer.status} ${errorCodeOf(answer)}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

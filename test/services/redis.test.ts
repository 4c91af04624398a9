import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { RedisClient } from 'bun';
import { areGone } from './processes.ts';
import type { PrivateRedis } from './private-redis.ts';
import { findRedis, redisUrl, startPrivateRedis } from './redis.ts';

const STALL_MS = 200;
const clients: RedisClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

function connect(url: string): RedisClient {
  const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 5000 });
  clients.push(client);
  return client;
}

describe.skipIf(redisUrl === undefined)('the shared Redis', () => {
  test('stores a value', async () => {
    const client = connect(redisUrl ?? '');
    const key = `services-test:${crypto.randomUUID()}`;
    await client.set(key, 'told');
    expect(await client.get(key)).toBe('told');
    await client.del(key);
  });
});

describe.skipIf((await findRedis()) === undefined)('a private Redis', () => {
  let server: PrivateRedis;
  beforeAll(async () => {
    server = await startPrivateRedis();
  }, 120_000);
  afterAll(() => server.stop());

  test('does not respond while it is stalled, and responds to pending commands afterwards', async () => {
    const client = connect(server.url);
    await client.set('key', 'before');
    server.stall();
    const answer = client.get('key');
    expect(await Promise.race([answer, Bun.sleep(STALL_MS).then(() => 'silence')])).toBe('silence');
    server.resume();
    expect(await answer).toBe('before');
  });

  test('is empty after a flush, and after a kill and restart', async () => {
    await server.flush();
    const before = connect(server.url);
    expect(await before.send('DBSIZE', [])).toBe(0);
    await before.set('key', 'value');
    const { pid } = server;
    await server.kill();
    expect(await areGone([pid], 0)).toBeTrue();
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await connect(server.url).get('key')).toBeNull();
  });

  test('leaves no process when it is stopped while it is stalled', async () => {
    const other = await startPrivateRedis();
    other.stall();
    await other.stop();
    expect(await areGone([other.pid], 0)).toBeTrue();
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MemoryWatch } from '../../src/observe/memory-watch.ts';
import type { Service } from '../../src/serve.ts';
import { Owner } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { serveStore } from '../gateway/serve-store.ts';
import { until } from '../until.ts';

describe('memory', () => {
  test('is short above the limit until there is some distance again, and that is logged once', () => {
    const lines: string[] = [];
    let bytes = 0;
    const log = { internalError: (event: string) => lines.push(event), lifecycle: (event: string) => lines.push(event) };
    const watch = new MemoryWatch({ limitBytes: 1000, log, read: () => bytes, collect: () => undefined });
    const isShortAt = [1000, 1001, 1100, 1000, 951, 950, 951, 1000].map((now) => {
      bytes = now;
      watch.look();
      return watch.isShort;
    });
    expect(isShortAt).toEqual([false, true, true, true, true, false, false, false]);
    expect(lines).toEqual(['memory is short: new requests are refused', 'memory is free again: requests are accepted']);
  });

  test('is collected while it is short, but not all the time', () => {
    let collections = 0;
    let nowMs = 0;
    const log = { internalError: () => undefined, lifecycle: () => undefined };
    const watch = new MemoryWatch({ limitBytes: 1, log, read: () => 2, collect: () => (collections += 1), now: () => nowMs });
    for (; nowMs < 11_000; nowMs += 1000) watch.look();
    expect(collections).toBe(3);
  });

  test('is enough by default', () => {
    const watch = new MemoryWatch({ limitBytes: undefined, log: { internalError: () => undefined, lifecycle: () => undefined } });
    watch.look();
    expect(watch.isShort).toBe(false);
  });
});

describe('a server that is short of memory', () => {
  const [embedded] = STORES;
  let store: OpenStore;
  let service: Service;
  beforeAll(async () => {
    if (embedded === undefined) throw new Error('There is no store');
    store = await embedded.open();
    service = await serveStore(store, { limits: { memory_mb: 1 } });
  });
  afterAll(async () => {
    await service.drain();
    await store.close();
  });

  test('refuses new requests with a time to wait, and stays healthy', async () => {
    const owner = await Owner.at(store);
    const { secret } = await owner.keys.create(owner.account.id, { name: 'test' });
    const listModels = () => fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    const refused = await until(async () => {
      const response = await listModels();
      return response.ok ? undefined : response;
    });
    expect(refused.status).toBe(500);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({ error: { code: 'too_busy', message: 'This server is short of memory. Try again soon.' } });
    for (const path of ['/healthz', '/readyz']) expect((await fetch(`${service.url}${path}`)).status).toBe(200);
  });
});

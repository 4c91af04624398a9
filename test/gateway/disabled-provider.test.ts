import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DisabledProviders } from '../../src/catalog/disabled-providers.ts';
import { loadConfig } from '../../src/config.ts';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { serve, type Service } from '../../src/serve.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { until } from '../until.ts';

const TEST_MS = 120_000;

const route = (provider: string) => ({ provider, model: 'm' });

describeStores((makeStore) => {
  let store: Store;
  let service: Service;
  let database: OpenDatabase;
  let disabled: DisabledProviders;
  let secret: string;
  const calls = { north: 0, south: 0 };
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disabled-'));
  const hosts = (['north', 'south'] as const).map((name) =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        calls[name] += 1;
        const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: name } }];
        return Response.json({
          id: 'x',
          object: 'chat.completion',
          choices,
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        });
      },
    }),
  );

  const open = async (): Promise<void> => {
    const settings = join(folder, 'tollgate.yaml');
    const model = { context_length: 8192, max_output_tokens: 1024, price: { input: 1, output: 2 } };
    writeFileSync(
      settings,
      JSON.stringify({
        providers: { north: { base_url: hosts[0]?.url.href }, south: { base_url: hosts[1]?.url.href } },
        models: [
          { ...model, id: 'any/both', provider: 'any', routes: [route('north'), route('south')] },
          {
            ...model,
            id: 'any/shared',
            provider: 'any',
            routes: [
              { ...route('north'), weight: 1 },
              { ...route('south'), weight: 1 },
            ],
          },
          { ...model, id: 'north/alone', provider: 'north', routes: [route('north')] },
        ],
      }),
    );
    const where = store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl };
    const environment = {
      HOST: '127.0.0.1',
      PORT: '0',
      TOLLGATE_DATA: folder,
      TOLLGATE_CONFIG: settings,
      TOLLGATE_LOG_LEVEL: 'silent',
      ...where,
    };
    service = await serve(loadConfig(environment));
  };

  beforeAll(async () => {
    store = await makeStore();
    database = await connect({ databaseUrl: store.databaseUrl, databasePath: join(folder, 'tollgate.db') });
    await migrate(database.kysely, database.dialect);
    disabled = new DisabledProviders(database.kysely);
    await open();
    const account = await service.accounts.create('ada@example.com', false);
    if (account === undefined) throw new Error('the database was empty');
    await service.accounts.credit(account, asNanos(1_000_000_000n), { reason: 'test', actor: 'test' });
    ({ secret } = await service.keys.create(account.id, { name: 'test' }));
  }, TEST_MS);
  afterAll(async () => {
    await service.drain();
    await database.kysely.destroy();
    await Promise.all(hosts.map((host) => host.stop(true)));
    await store.remove();
    rmSync(folder, { recursive: true });
  });

  const ask = async (path: string, body?: unknown): Promise<{ status: number; json: Record<string, unknown> }> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const answer = await fetch(service.url + path, { headers, ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }) });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  };
  const chat = (model: string) => ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] });
  const listed = async () => ((await ask('/v1/models')).json['data'] as { id: string }[]).map(({ id }) => id);
  const serves = (model: string) => () => service.catalog.find(model) !== undefined;
  const refuses = (model: string) => () => service.catalog.find(model) === undefined;

  test(
    'a disabled provider gets no requests: other routes serve, and a model without another route is refused',
    async () => {
      expect((await chat('any/both')).json).toMatchObject({ choices: [{ message: { content: 'north' } }] });
      expect((await chat('north/alone')).status).toBe(200);
      await disabled.disable('north', 'operator@example.com');
      await until(refuses('north/alone'));
      const before = { ...calls };
      for (let n = 0; n < 5; n += 1) {
        expect((await chat('any/both')).json).toMatchObject({ choices: [{ message: { content: 'south' } }] });
        expect((await chat('any/shared')).json).toMatchObject({ choices: [{ message: { content: 'south' } }] });
      }
      expect(calls).toEqual({ north: before.north, south: before.south + 10 });
      expect(await chat('north/alone')).toMatchObject({
        status: 404,
        json: { error: { code: 'model_not_found', message: expect.stringContaining('took its provider out of service') as string } },
      });
      expect((await ask('/v1/models/north/alone')).status).toBe(404);
      expect(await listed()).not.toContain('north/alone');
      expect(await listed()).toContain('any/both');
      expect((await chat('north/unknown')).json).toMatchObject({ error: { message: expect.stringContaining('does not exist') as string } });
    },
    TEST_MS,
  );

  test(
    'a disabled provider stays disabled after a restart, and serves again as soon as it is enabled',
    async () => {
      await service.drain();
      await open();
      expect((await chat('north/alone')).status).toBe(404);
      await disabled.enable('north', 'operator@example.com');
      await until(serves('north/alone'));
      expect((await chat('north/alone')).status).toBe(200);
      expect((await chat('any/both')).json).toMatchObject({ choices: [{ message: { content: 'north' } }] });
    },
    TEST_MS,
  );
});

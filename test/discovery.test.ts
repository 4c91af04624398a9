import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Catalog, modelSchema, type Model } from '../src/catalog/catalog.ts';
import { readModelList, toFreeModel } from '../src/catalog/model-list.ts';
import { loadConfig } from '../src/config.ts';
import { Discovery, discoverModels } from '../src/discovery.ts';
import { HttpClient } from '../src/http/client.ts';
import { openLog } from '../src/observe/log.ts';
import { startGate, type Gate, type TestKey } from './simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from './simulator/openai.ts';
import { startOwnServer, type OwnServer } from './simulator/own-server.ts';
import type { JsonObject } from './simulator/wire.ts';
import { until } from './until.ts';

function listOf(...entries: JsonObject[]): JsonObject {
  return { object: 'list', data: entries.map((entry) => ({ object: 'model', ...entry })) };
}

const free = (provider: string, body: unknown): (Model | undefined)[] =>
  (readModelList(body) ?? []).map((model) => toFreeModel(provider, model));

const discovers = (file: string, variables: Record<string, string> = {}): unknown[] =>
  [...loadConfig({ TOLLGATE_CONFIG: file, ...variables }).providers.values()].filter((provider) => provider.discovers).map(({ id }) => id);

const write = async (settings: JsonObject): Promise<string> => {
  const path = `${process.env['TMPDIR'] ?? '/tmp'}/tollgate-discover-${crypto.randomUUID()}.yaml`;
  await Bun.write(path, JSON.stringify(settings));
  return path;
};

const make = (id: string, route: string, price = 1): Model =>
  modelSchema.parse({
    id,
    provider: 'own',
    context_length: 100,
    max_output_tokens: 10,
    price: { input: price, output: price },
    routes: [{ provider: 'own', model: route }],
  });

describe('a model list', () => {
  test.each<[what: string, body: unknown, context: number]>([
    [
      'from vLLM has max_model_len',
      listOf({ id: 'Qwen/Qwen3-8B', created: 1_760_000_000, owned_by: 'vllm', max_model_len: 40_960 }),
      40_960,
    ],
    ['from llama.cpp has the context length it was started with', listOf({ id: 'q', meta: { n_ctx: 8192, n_ctx_train: 32_768 } }), 8192],
    [
      'from an older llama.cpp has the length the model was trained for',
      listOf({ id: 'q', meta: { n_vocab: 9, n_ctx_train: 32_768 } }),
      32_768,
    ],
    [
      'from LM Studio has the loaded length',
      listOf({ id: 'q', type: 'llm', max_context_length: 131_072, loaded_context_length: 4096 }),
      4096,
    ],
    ['from LM Studio has the possible length', listOf({ id: 'q', type: 'vlm', state: 'not-loaded', max_context_length: 8000 }), 8000],
    ['from Ollama has no length', listOf({ id: 'llama3.3:latest', created: 1, owned_by: 'library' }), 131_072],
    ['with an invalid length counts as having none', listOf({ id: 'q', max_model_len: -1, meta: { n_ctx: '9' } }), 131_072],
    ['from Gemini has other field names', { models: [{ name: 'models/q', inputTokenLimit: 1000, outputTokenLimit: 50 }] }, 1000],
    ['may be a bare array', [{ id: 'q', context_length: 77 }], 77],
  ])('%s', (_, body, context) => {
    expect(free('own', body).map((model) => model?.contextLength)).toEqual([context]);
  });

  test('becomes free models, callable under their provider’s names', () => {
    const [model] = free('vllm', listOf({ id: 'Qwen/Qwen3-8B', created: 1_760_000_000, max_model_len: 40_960 }));
    expect(model).toMatchObject({
      id: 'vllm/Qwen/Qwen3-8B',
      provider: 'vllm',
      createdAtSeconds: 1_760_000_000,
      maxOutputTokens: 40_960,
      price: { input: 0n, cachedInput: 0n, cacheWrite: 0n, output: 0n },
      routes: [{ provider: 'vllm', model: 'Qwen/Qwen3-8B' }],
    });
  });

  test('uses the names of files, and hyphens for other characters', () => {
    const names = ['/srv/models/Qwen3 8B@q4.gguf', 'C:\\models\\small.GGUF', 'hf.co/a/b:Q4_K_M'];
    const models = free('own', listOf(...names.map((id) => ({ id }))));
    expect(models.map((model) => model?.id)).toEqual(['own/Qwen3-8B-q4', 'own/small', 'own/hf.co/a/b:Q4_K_M']);
    expect(models.map((model) => model?.routes[0]?.model)).toEqual(names);
  });

  test('leaves out embeddings, nameless entries and oversized names', () => {
    const body = listOf({ id: 'e', type: 'embeddings' }, { id: '' }, {}, { id: 7 }, { id: 'a'.repeat(10_000) }, { id: 'q' });
    expect(free('own', body).map((model) => model?.id)).toEqual(['own/q']);
    expect(
      toFreeModel('own', {
        name: 'a'.repeat(190),
        title: undefined,
        createdAtSeconds: undefined,
        contextLength: undefined,
        maxOutputTokens: undefined,
        hasImages: false,
      }),
    ).toBeUndefined();
  });

  test('is cut if it is too long', () => {
    expect(readModelList(listOf(...Array.from({ length: 5000 }, (_, index) => ({ id: `m${index}` }))))).toHaveLength(1000);
  });

  test.each([null, 'text', 7, {}, { data: 'x' }, { error: 'no' }])('cannot be %p', (body) => {
    expect(readModelList(body)).toBeUndefined();
  });

  test('without models may be null', () => {
    expect(readModelList({ object: 'list', data: null })).toEqual([]);
  });
});

describe('discovery settings', () => {
  test('an address in the environment is enough', () => {
    expect(discovers('/dev/null', { OLLAMA_URL: 'http://127.0.0.1:1/v1', OPENAI_API_KEY: 'sk-x' })).toEqual(['ollama']);
  });

  test('a provider in the file is polled only if it says so', async () => {
    const own = { base_url: 'http://127.0.0.1:1/v1' };
    const file = await write({
      providers: { gpu: { ...own, like: 'vllm', discover: true }, other: { ...own, like: 'vllm' }, ollama: own },
    });
    expect(discovers(file)).toEqual(['gpu']);
  });

  test('a server in the environment can be excluded', async () => {
    const file = await write({ providers: { ollama: { discover: false } } });
    expect(discovers(file, { OLLAMA_URL: 'http://127.0.0.1:1/v1' })).toEqual([]);
  });

  test('a host that charges us is never discovered as free', async () => {
    const file = await write({ providers: { groq: { discover: true }, mine: { base_url: 'http://127.0.0.1:1/v1', discover: true } } });
    expect(() => discovers(file)).toThrow(/providers\.groq\.discover: is for servers of your own.*providers\.mine\.discover/su);
  });
});

describe('the catalogue', () => {
  test('does not offer for free under another name what the settings sell', () => {
    const catalog = new Catalog([make('team/dear', 'large')], () => true);
    catalog.discover('own', [make('own/large', 'large', 0), make('own/small', 'small', 0)]);
    expect(
      catalog
        .list()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['own/small', 'team/dear']);
  });

  test('does not offer for free what a disabled provider sells', () => {
    const catalog = new Catalog([make('own/large', 'other')], () => false);
    catalog.discover('own', [make('own/large', 'large', 0)]);
    expect(catalog.find('own/large')).toBeUndefined();
  });

  test('drops the models that a server no longer has, and only those', () => {
    const catalog = new Catalog([make('team/dear', 'x')], () => true);
    catalog.discover('own', [make('own/a', 'a', 0), make('own/b', 'b', 0)]);
    catalog.discover('second', [make('second/c', 'c', 0)]);
    catalog.discover('own', [make('own/b', 'b', 0)]);
    expect(
      catalog
        .list()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['own/b', 'second/c', 'team/dear']);
  });
});

test('a server is polled, keeps its models while it is down, and each new model is recorded once', async () => {
  let server = startOwnServer(listOf({ id: 'a' }));
  const config = loadConfig({ TOLLGATE_CONFIG: '/dev/null', VLLM_URL: server.baseUrl });
  const catalog = new Catalog(config.models, (id) => config.providers.has(id));
  const recorded: string[][] = [];
  const record = async (models: readonly Model[]): Promise<void> => void recorded.push(models.map(({ id }) => id));
  const client = new HttpClient();
  const discovery = new Discovery({ config, catalog, client, record, log: openLog('silent') }, { usualMs: 20, retryMs: 10 });
  discovery.start();
  await until(() => catalog.find('vllm/a') !== undefined);
  await until(() => server.asked.length > 3);
  server.put('/v1/models', listOf({ id: 'b' }));
  await until(() => catalog.find('vllm/b') !== undefined && catalog.find('vllm/a') === undefined);
  expect(recorded).toEqual([['vllm/a'], ['vllm/b']]);
  const { port } = server;
  await server.stop();
  await Bun.sleep(60);
  expect(catalog.find('vllm/b')).toBeDefined();
  server = startOwnServer(listOf({ id: 'c' }), { port });
  await until(() => catalog.find('vllm/c') !== undefined);
  await discovery.stop();
  const { length } = server.asked;
  await Bun.sleep(60);
  expect(server.asked.length).toBe(length);
  client.close();
  await server.stop();
});

test.each<[what: string, answer: unknown, reason: RegExp]>([
  ['nothing', undefined, /status 404/u],
  ['an HTML page', new Response('<html>'), /not JSON/u],
  ['something else', { ok: true }, /not a list of models/u],
  ['too much data', new Response('x'.repeat(9_000_000)), /more than 8000000 bytes/u],
  ['a redirect', new Response('', { status: 302, headers: { location: '/v1/models' } }), /status 302/u],
])('a server that answers with %s is reported with the reason', async (_, answer, reason) => {
  const server = startOwnServer(answer);
  const { models, failed } = await discoverModels(loadConfig({ TOLLGATE_CONFIG: '/dev/null', VLLM_URL: server.baseUrl }));
  expect(models.size).toBe(0);
  expect(failed.get('vllm')).toMatch(reason);
  await server.stop();
});

describe('the running gateway', () => {
  let simulator: OpenAiSimulator;
  let lmstudio: OwnServer;
  let vllm: OwnServer | undefined;
  let gate: Gate;
  let all: TestKey;
  let downPort: number;

  beforeAll(async () => {
    simulator = await startOpenAiSimulator();
    lmstudio = startOwnServer(listOf({ id: 'small' }), { key: 'own-key' });
    lmstudio.put('/api/v0/models', listOf({ id: 'small', type: 'llm', max_context_length: 4096 }, { id: 'nomic', type: 'embeddings' }));
    const down = startOwnServer({});
    downPort = down.port;
    await down.stop();
    gate = await startGate({
      simulator,
      providers: { gpu: { like: 'vllm', base_url: `http://127.0.0.1:${downPort}/v1`, discover: true } },
      models: [
        {
          id: 'gpu/priced',
          provider: 'gpu',
          context_length: 1000,
          max_output_tokens: 100,
          price: { input: 1, output: 1 },
          routes: [{ provider: 'gpu', model: 'priced' }],
        },
      ],
      env: { LMSTUDIO_URL: lmstudio.baseUrl, LMSTUDIO_API_KEY: 'own-key' },
    });
    all = await gate.makeKey();
  });
  afterAll(async () => {
    await gate.stop();
    await lmstudio.stop();
    await vllm?.stop();
    await simulator.stop();
  });

  const list = async ({ secret }: TestKey): Promise<JsonObject[]> => {
    const response = await fetch(`${gate.baseUrl}/models`, { headers: { authorization: `Bearer ${secret}` } });
    return ((await response.json()) as { data: JsonObject[] }).data;
  };
  const ask = (model: string, { secret }: TestKey): Promise<Response> =>
    fetch(`${gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
  const ids = async (key: TestKey): Promise<unknown[]> => (await list(key)).map(({ id }) => id);

  test('starts although one server is down, and serves the other’s models free of charge', async () => {
    await until(async () => (await ids(all)).includes('lmstudio/small'));
    expect(await ids(all)).not.toContain('lmstudio/nomic');
    const found = (await list(all)).find(({ id }) => id === 'lmstudio/small');
    expect(found).toMatchObject({ owned_by: 'lmstudio', context_length: 4096, pricing: { prompt: '0', completion: '0' } });
    const response = await ask('lmstudio/small', all);
    expect(await response.json()).toMatchObject({ model: 'lmstudio/small', usage: { cost: 0 } });
    expect(lmstudio.called).toEqual(['small']);
    expect(await gate.settledBalance(all)).toBe(all.creditNanos);
  });

  test('finds a server that comes up later, and keeps the prices in the settings', async () => {
    expect(gate.logLines()).toContainEqual(expect.objectContaining({ provider: 'gpu', reason: 'it could not be reached' }));
    vllm = startOwnServer(listOf({ id: 'Qwen/Qwen3-8B', max_model_len: 40_960 }, { id: 'priced', max_model_len: 7 }), { port: downPort });
    await until(async () => (await ids(all)).includes('gpu/Qwen/Qwen3-8B'));
    expect((await ask('gpu/Qwen/Qwen3-8B', all)).status).toBe(200);
    expect((await list(all)).find(({ id }) => id === 'gpu/priced')).toMatchObject({
      context_length: 1000,
      pricing: { prompt: '0.000001' },
    });
    expect((await ask('gpu/priced', all)).status).toBe(200);
    expect(await gate.settledBalance(all)).toBe(all.creditNanos - 6000n);
    expect(await gate.run('ledger', 'verify')).toMatchObject({ ok: true });
  });

  test('holds keys to their model lists, which may name discovered models', async () => {
    const create = (models: string): Promise<JsonObject> =>
      gate.run('key', 'create', '--account', all.email, '--name', 'listed', '--models', models);
    const one = { ...all, secret: String((await create('lmstudio/small'))['secret']) };
    expect(await ids(one)).toEqual(['lmstudio/small']);
    expect((await ask('lmstudio/small', one)).status).toBe(200);
    expect((await ask('gpu/Qwen/Qwen3-8B', one)).status).toBe(403);
    const other = await gate.makeKey({ models: 'sandbox/echo' });
    expect((await ask('lmstudio/small', other)).status).toBe(403);
    // Only a list that could be read shows that a name is wrong.
    await expect(create('lmstudio/smal')).rejects.toThrow(/Unknown model lmstudio\/smal/u);
  });

  test('includes them in the command-line model list', async () => {
    const { models } = await gate.run('models', 'list');
    expect((models as JsonObject[]).map(({ id }) => id)).toEqual(expect.arrayContaining(['lmstudio/small', 'gpu/priced', 'mock/gpt']));
  });
});

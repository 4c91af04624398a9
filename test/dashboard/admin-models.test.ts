import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Config } from '../../src/config.ts';
import { listPrices } from '../../src/gateway/price-list.ts';
import { listProviders } from '../../src/gateway/provider-list.ts';
import { recordPrices } from '../../src/ledger/price-versions.ts';
import { startOfDayBefore, type Span } from '../../src/usage/zone.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { configFrom, gateOf } from './price-list-gate.ts';
import { describeStores } from './stores.ts';

const TEST_MS = 120_000;
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;
/** Three models: one changes a shipped price, one repeats a shipped id with tiers, one is new. */
const SETTINGS = `
models:
  - { id: openai/gpt-5.4, provider: openai, context_length: 1000000, max_output_tokens: 128000,
      price: { input: 3, output: 20, long: { over: 200000, input: 6, output: 30 } }, routes: [{ provider: openai, model: gpt-5.4 }] }
  - { id: own/wise, provider: own, context_length: 8192, max_output_tokens: 1024, price: { input: 0.5, cached_input: 0.05, output: 2 },
      routes: [{ provider: own, model: wise }] }
providers: { own: { base_url: 'http://127.0.0.1:9/v1' } }
`;

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let versions: ReadonlyMap<string, number> = new Map();
  const before: Config = configFrom('');
  const config: Config = configFrom(SETTINGS, { OPENAI_API_KEY: 'a-secret-key' });

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore(), {
      ask: async ({ type }) => {
        const gate = gateOf(config, versions);
        return structuredClone(type === 'providers' ? listProviders(gate) : listPrices(gate));
      },
    });
    const { kysely } = dashboard.dependencies.database;
    await recordPrices(kysely, before.models);
    versions = await recordPrices(kysely, config.models);
    operator = await enterAsOperator(dashboard);
    await addRollups();
  }, TEST_MS);
  afterAll(() => dashboard.end());

  /** Two accounts use a model. One of them also used it a month ago. */
  async function addRollups(): Promise<void> {
    const { kysely } = dashboard.dependencies.database;
    await dashboard.browser().signUp('ada@example.com');
    const ada = dashboard.browser();
    await ada.signIn('ada@example.com');
    await ada.get('/api/account');
    const accounts = await kysely.selectFrom('accounts').select('id').execute();
    expect(accounts).toHaveLength(2);
    const nowMs = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS;
    const sums = { errors: 0, reasoning_tokens: 0, first_token_ms: 0, first_token_count: 0, duration_ms: 10 };
    const tokens = { requests: 3, input_tokens: 1000, cached_input_tokens: 400, cache_write_tokens: 0, output_tokens: 200 };
    const row = { key_id: 'key_x', provider: 'own', ...sums, ...tokens };
    await kysely
      .insertInto('usage_rollups')
      .values([
        ...accounts.map(({ id }) => ({ ...row, account_id: id, model: 'own/wise', quarter_hour: nowMs - DAY_MS, cost: 920_000 })),
        { ...row, account_id: accounts[0]?.id ?? '', model: 'own/wise', quarter_hour: nowMs - 30 * DAY_MS, cost: 5_000_000 },
        { ...row, account_id: accounts[0]?.id ?? '', model: 'openai/gpt-5.4', quarter_hour: nowMs, cost: 7_000_000 },
      ])
      .execute();
  }

  const read = async (path: string): Promise<Record<string, unknown>> => jsonOf(await operator.get(`/api/admin/models${path}`));

  test('the list shows every model with the source, start and charges of its price', async () => {
    const { models } = (await read('')) as { models: Record<string, unknown>[] };
    const of = (id: string) => models.find((model) => model['id'] === id);
    expect(models.length).toBe(config.models.length);
    expect(of('own/wise')).toMatchObject({
      source: 'file',
      isDifferent: true,
      state: 'served',
      priceVersion: 1,
      price: { input: '0.5', cachedInput: '0.05', cacheWrite: '0.5', output: '2' },
      week: { requests: 6, usd: '0.00184' },
    });
    expect(of('openai/gpt-5.4')).toMatchObject({ source: 'file', isDifferent: true, priceVersion: 2, longPrice: { input: '6' } });
    expect(of('openai/gpt-5.4-mini')).toMatchObject({ source: 'shipped', isDifferent: false, state: 'served', priceVersion: 1 });
    expect(of('sandbox/echo')).toMatchObject({ source: 'built_in', state: 'served', week: { requests: 0, usd: '0' } });
    const off = models.find((model) => model['provider'] === 'anthropic');
    expect(off).toMatchObject({ source: 'shipped', state: 'off' });
    expect(Math.abs(Date.now() - Number(off?.['sinceMs']))).toBeLessThan(TEST_MS);
  });

  test('one model shows all its price versions and the shipped price', async () => {
    const { versions: listed, shipped, routes } = await read('/one?id=openai%2Fgpt-5.4');
    expect(listed).toMatchObject([
      { version: 2, price: { input: '3', cachedInput: '3', output: '20' }, longPrice: { overTokens: 200_000, cachedInput: '6' } },
      { version: 1 },
    ]);
    expect((listed as { price: unknown }[])[1]?.price).toEqual((shipped as { price: unknown }).price);
    expect(routes).toEqual([{ provider: 'openai', name: 'gpt-5.4', weight: null }]);
    expect((await operator.get('/api/admin/models/one?id=none')).status).toBe(404);
  });

  test('a preview of flat prices over the last days is exact to the nano-dollar', async () => {
    const answer = await read('/preview?id=own%2Fwise&input=1&cachedInput=0.1&cacheWrite=1&output=4.000001');
    expect(answer).toMatchObject({
      week: { requests: 6, usd: '0.00184' },
      now: { lowUsd: '0.00184', highUsd: '0.00184' },
      // 2000 · 1 + 800 · 0.1 + 400 · 4.000001 millionths of a dollar, rounded up.
      would: { lowUsd: '0.003680001', highUsd: '0.003680001' },
    });
    const changed = configFrom(`${String(answer['yaml'])}providers: { own: { base_url: 'http://127.0.0.1:9/v1' } }`);
    expect(changed.models.find(({ id }) => id === 'own/wise')?.price).toMatchObject({ input: 1_000_000n, output: 4_000_001n });
  });

  test('a preview is a range if long prompts cost more, because the sums do not record prompt lengths', async () => {
    const query =
      '?id=openai%2Fgpt-5.4&input=1&cachedInput=1&cacheWrite=1&output=1&longInput=2&longCachedInput=2&longCacheWrite=2&longOutput=2';
    const answer = await read(`/preview${query}`);
    expect(answer['would']).toEqual({ lowUsd: '0.0016', highUsd: '0.0032' });
    expect(answer['yaml']).toContain('over: 200000');
  });

  test('an invalid price is refused and its field named', async () => {
    const answer = await operator.get('/api/admin/models/preview?id=own%2Fwise&input=1e3&cachedInput=1&cacheWrite=1&output=1');
    expect([answer.status, await jsonOf(answer)]).toMatchObject([400, { error: { field: 'input' } }]);
  });

  test('the exported list is valid in tollgate.yaml and changes nothing', async () => {
    const answer = await operator.get('/api/admin/models/export');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="models.yaml"');
    const text = await answer.text();
    expect(configFrom(`${text}providers: { own: { base_url: 'http://127.0.0.1:9/v1' } }`).models).toEqual(config.models);
    expect(await check(text)).toEqual({ mistakes: [], added: [], changed: [], same: config.models.length, absent: [] });
  });

  const check = async (text: string) => jsonOf(await operator.send('POST', '/api/admin/models/check', { text }));

  test('checking a pasted text reports what it would add and change, and by how much', async () => {
    const text = `
limits: { concurrent: 8 }
models:
  - { id: own/wise, provider: own, context_length: 8192, max_output_tokens: 1024, price: { input: 0.75, cached_input: 0.05, output: 2 },
      routes: [{ provider: own, model: wise }] }
  - { id: groq/new, provider: groq, context_length: 9, max_output_tokens: 9, price: { input: 1, output: 2 },
      routes: [{ provider: groq, model: new }] }`;
    expect(await check(text)).toMatchObject({
      mistakes: [],
      added: [{ id: 'groq/new', price: { input: '1', output: '2' } }],
      changed: [
        {
          id: 'own/wise',
          changes: [
            { field: 'price.input', before: '0.5', after: '0.75', part: 0.5 },
            { field: 'price.cache_write', before: '0.5', after: '0.75', part: 0.5 },
          ],
        },
      ],
      same: 0,
      absent: ['openai/gpt-5.4'],
    });
  });

  test('checking a pasted text reports mistakes with their lines and substitutes no variables', async () => {
    const model = 'context_length: 9, max_output_tokens: 9, price: { input: 1, output: x }, routes: [{ provider: "${PATH}", model: m }]';
    const { mistakes, added } = await check(`models:\n  - { id: a/b, provider: a, ${model} }`);
    expect(mistakes).toEqual([
      'the text, line 2: models[0].routes[0].provider: there is no such provider.',
      'the text, line 2: models[0].price.output: must be USD per million tokens: zero or more, at most six decimals',
    ]);
    expect(added).toEqual([]);
    for (const broken of [
      'models: [',
      'model: 1',
      '- a',
      '[[[[',
      '[',
      `a: &a [x]\nb: [${'*a, '.repeat(2000)}*a]`,
      '['.repeat(50_000),
      '- '.repeat(40_000),
    ])
      expect([broken.slice(0, 20), (await check(broken))['mistakes']]).toEqual([
        broken.slice(0, 20),
        expect.arrayContaining([expect.any(String)]) as unknown,
      ]);
    // Read in full, it would block the dashboard for seconds.
    const wide = `models: [{${Array.from({ length: 20_000 }, (_, index) => index.toString(36)).join()}}]`;
    expect((await check(wide))['mistakes']).toEqual([expect.stringContaining('too many entries in one place')]);
    const long = await operator.send('POST', '/api/admin/models/check', { text: 'x'.repeat(100_001) });
    expect([long.status, await jsonOf(long)]).toMatchObject([400, { error: { field: 'text' } }]);
  });

  const week = async (zone: string) => {
    const { span, models } = (await read(`?zone=${zone}`)) as { span: Span; models: { id: string; week: { requests: number } }[] };
    return { span, requests: models.find(({ id }) => id === 'openai/gpt-5.4-mini')?.week.requests };
  };

  test('the last seven days are calendar days of the operator’s zone: today and the six before it', async () => {
    const { kysely } = dashboard.dependencies.database;
    const [east, west] = [await week('Asia/Kathmandu'), await week('America/Lima')];
    expect(east.span.fromMs).toBe(startOfDayBefore(6, east.span.toMs, 'Asia/Kathmandu'));
    expect(west.span.fromMs).toBe(startOfDayBefore(6, west.span.toMs, 'America/Lima'));
    const { id } = await kysely.selectFrom('accounts').select('id').executeTakeFirstOrThrow();
    const sums = { errors: 0, reasoning_tokens: 0, first_token_ms: 0, first_token_count: 0, duration_ms: 10, cost: 1000 };
    const tokens = { input_tokens: 10, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 10 };
    const row = { key_id: 'key_x', provider: 'openai', account_id: id, model: 'openai/gpt-5.4-mini', ...sums, ...tokens };
    await kysely
      .insertInto('usage_rollups')
      .values([
        { ...row, requests: 1, quarter_hour: east.span.fromMs },
        { ...row, requests: 10, quarter_hour: east.span.fromMs - QUARTER_MS },
      ])
      .execute();
    expect((await week('Asia/Kathmandu')).requests).toBe(1);
    expect((await operator.get('/api/admin/models?zone=Nowhere')).status).toBe(400);
  });

  test('no response contains a credential', async () => {
    for (const path of ['', '/one?id=openai%2Fgpt-5.4'])
      expect(await (await operator.get(`/api/admin/models${path}`)).text()).not.toContain('a-secret-key');
  });
});

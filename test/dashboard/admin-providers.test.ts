import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeId } from '../../src/ids.ts';
import { listProviders, tryProvider } from '../../src/gateway/provider-list.ts';
import { HttpClient } from '../../src/http/client.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { configFrom, gateOf } from './price-list-gate.ts';
import { describeStores } from './stores.ts';

const TEST_MS = 120_000;
const HOUR_MS = 3_600_000;
const SECRET = 'sk-a-secret-key-of-ours';

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let answersWith = 200;
  const asked: string[] = [];
  const client = new HttpClient();
  const host = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      asked.push(await request.text());
      const key = request.headers.get('authorization');
      if (answersWith !== 200) return Response.json({ error: { message: `${key} may not do that` } }, { status: answersWith });
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: `ok, ${key}` } }];
      return Response.json({
        id: 'x',
        object: 'chat.completion',
        choices,
        usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
      });
    },
  });
  const model = { context_length: 8192, max_output_tokens: 1024, price: { input: 1, output: 2 } };
  const config = configFrom(
    JSON.stringify({
      providers: {
        own: { base_url: `http://127.0.0.1:${host.port}/v1`, api_key: SECRET },
        rock: {
          like: 'bedrock',
          base_url: 'https://rock.example.com',
          region: 'eu-central-1',
          access_key_id: 'AKIA1',
          secret_access_key: SECRET,
        },
      },
      models: [{ ...model, id: 'own/wise', provider: 'own', routes: [{ provider: 'own', model: 'wise-2' }] }],
    }),
    { OPENAI_API_KEY: 'sk-another-secret', AWS_BEARER_TOKEN_BEDROCK: SECRET },
  );

  beforeAll(async () => {
    const gate = { ...gateOf(config, new Map()), client };
    dashboard = await openDashboard(await makeStore(), {
      ask: async (question) => (question.type === 'trial' ? tryProvider(gate, question) : listProviders(gate)),
    });
    operator = await enterAsOperator(dashboard);
    for (let ms = 1; ms <= 100; ms += 1) await record({ provider: 'own', firstTokenMs: ms, agoMs: 2 * HOUR_MS });
    await record({ provider: 'own', firstTokenMs: 7, agoMs: HOUR_MS / 2 });
    await record({ provider: 'own', outcome: 'failed', errorCode: 'provider_timeout', agoMs: 3 * HOUR_MS });
    await record({ provider: 'openai', failedBefore: ['own', 'provider_error'], agoMs: 4 * HOUR_MS });
    await record({
      provider: '',
      outcome: 'failed',
      errorCode: 'provider_refused',
      failedBefore: ['own', 'provider_refused'],
      agoMs: HOUR_MS,
    });
    await record({ provider: 'own', outcome: 'client_gone', agoMs: HOUR_MS });
    await record({ provider: 'own', agoMs: 30 * HOUR_MS });
  }, TEST_MS);
  afterAll(async () => {
    await dashboard.end();
    client.close();
    await host.stop(true);
  });

  interface Recorded {
    readonly provider: string;
    readonly agoMs: number;
    readonly outcome?: string;
    readonly errorCode?: string;
    readonly firstTokenMs?: number;
    readonly failedBefore?: readonly [provider: string, outcome: string];
  }

  async function record({ provider, agoMs, outcome = 'completed', errorCode, firstTokenMs, failedBefore }: Recorded): Promise<void> {
    const { kysely } = dashboard.dependencies.database;
    const atMs = Date.now() - agoMs;
    const id = makeId('req', atMs);
    const tokens = { input_tokens: 1, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 1, reasoning_tokens: 0 };
    const facts = {
      is_estimated: 0,
      price_version: 1,
      cost: 0,
      held: 0,
      attempts: 1,
      is_streaming: 1,
      finish_reason: null,
      end_user: null,
    };
    await kysely
      .insertInto('usage')
      .values({
        ...tokens,
        ...facts,
        request_id: id,
        account_id: 'acct_1',
        key_id: 'key_1',
        model: 'own/wise',
        provider,
        outcome,
        error_code: errorCode ?? null,
        first_token_ms: firstTokenMs ?? null,
        duration_ms: 500,
        created_at: atMs,
        served_model: '',
      })
      .execute();
    if (failedBefore === undefined) return;
    const [failed, how] = failedBefore;
    await kysely.insertInto('attempts').values({ request_id: id, n: 1, provider: failed, outcome: how, duration_ms: 3 }).execute();
  }

  const read = async () => {
    const text = await (await operator.get('/api/admin/providers')).text();
    return { text, lists: JSON.parse(text) as { configured: Record<string, unknown>[]; known: Record<string, unknown>[] } };
  };

  test('every provider is shown with its host and the source of its credential, never the credential itself', async () => {
    const { text, lists } = await read();
    const of = (id: string) => lists.configured.find((provider) => provider['id'] === id);
    expect(of('own')).toMatchObject({
      dialect: 'openai',
      host: `127.0.0.1:${host.port}`,
      credential: 'tollgate.yaml',
      models: [{ id: 'own/wise', name: 'wise-2', isOnlyHere: true }],
    });
    expect(of('openai')).toMatchObject({ name: 'OpenAI', host: 'api.openai.com', credential: 'OPENAI_API_KEY' });
    expect(of('rock')).toMatchObject({
      dialect: 'bedrock',
      region: 'eu-central-1',
      credential: 'tollgate.yaml',
      hour: null,
      lastFailure: null,
    });
    expect(of('sandbox')).toMatchObject({ host: null, credential: null });
    expect(lists.known).toContainEqual({ id: 'anthropic', name: 'Anthropic', variables: ['ANTHROPIC_API_KEY'], missing: [] });
    expect(lists.known).toContainEqual({ id: 'ollama', name: 'Ollama', variables: ['OLLAMA_URL'], missing: [] });
    expect(lists.known).toContainEqual(expect.objectContaining({ id: 'bedrock', missing: ['AWS_REGION'] }));
    expect(lists.known).not.toContainEqual(expect.objectContaining({ id: 'openai' }));
    for (const secret of [SECRET, 'sk-another-secret', 'AKIA1']) expect(text).not.toContain(secret);
  });

  test('health is measured from real traffic, without the mistakes of callers', async () => {
    const { lists } = await read();
    const own = lists.configured.find(({ id }) => id === 'own') as {
      hour: unknown;
      day: { failures: unknown };
      lastFailure: { atMs: number };
    };
    expect(own.hour).toEqual({
      calls: 1,
      failures: [],
      firstToken: { p50Ms: 7, p95Ms: 7 },
      duration: { p50Ms: 500, p95Ms: 500 },
    });
    expect(own.day).toMatchObject({ calls: 103, firstToken: { p50Ms: 50, p95Ms: 95 }, duration: { p50Ms: 500, p95Ms: 500 } });
    expect(own.day.failures).toEqual(
      expect.arrayContaining([
        { kind: 'provider_timeout', count: 1 },
        { kind: 'provider_error', count: 1 },
      ]),
    );
    expect(own.lastFailure).toMatchObject({ kind: 'provider_timeout', model: 'own/wise' });
    expect(Date.now() - own.lastFailure.atMs).toBeCloseTo(3 * HOUR_MS, -5);
  });

  const tryOut = (provider: string, body: unknown) => operator.send('POST', `/api/admin/providers/${provider}/test`, body);

  test('a test makes one real call, shows its answer or error without secrets, and is recorded', async () => {
    const good = await tryOut('own', { model: 'own/wise' });
    expect(await jsonOf(good)).toMatchObject({
      isFine: true,
      inputTokens: 9,
      outputTokens: 2,
      answer: 'ok, Bearer [redacted]',
      durationMs: expect.any(Number) as number,
    });
    expect(asked).toHaveLength(1);
    expect(JSON.parse(asked[0] ?? '')).toMatchObject({ model: 'wise-2' });
    answersWith = 401;
    expect(await jsonOf(await tryOut('own', { model: 'own/wise' }))).toMatchObject({
      isFine: false,
      message: '401: Bearer [redacted] may not do that',
      answer: null,
    });
    const { entries } = await jsonOf(await operator.get('/api/admin/audit?action=provider.test'));
    expect(entries).toMatchObject([
      { actor: 'operator@example.com', subject: 'own', changes: [{ field: 'model', after: 'own/wise' }, { after: 'failed' }] },
      { changes: [{ after: 'own/wise' }, { field: 'outcome', after: 'answered' }] },
    ]);
  });

  const stateOf = async () => (await read()).lists.configured.find(({ id }) => id === 'own')?.['disabled'];

  test('disabling a provider shows and records who and when, and it can be enabled again', async () => {
    const change = async (path: string) => {
      const answer = await operator.send('POST', `/api/admin/providers/${path}`);
      return [answer.status, (await jsonOf(answer))['isDisabled']];
    };
    expect(await stateOf()).toBeNull();
    expect(await Promise.all([change('own/disable'), change('own/disable')])).toEqual([
      [200, true],
      [200, true],
    ]);
    expect(await stateOf()).toMatchObject({ disabledBy: 'operator@example.com', disabledAtMs: expect.any(Number) as number });
    expect(await jsonOf(await tryOut('own', { model: 'own/wise' }))).toMatchObject({ isFine: false });
    expect(await change('own/enable')).toEqual([200, false]);
    expect(await change('own/enable')).toEqual([200, false]);
    expect(await stateOf()).toBeNull();
    expect(await change('nobody/disable')).toEqual([404, undefined]);
    const { entries } = await jsonOf(await operator.get('/api/admin/audit?subject=own'));
    const actions = (entries as { action: string }[]).map(({ action }) => action).filter((action) => action !== 'provider.test');
    expect(actions).toEqual(['provider.enable', 'provider.disable']);
  });

  test('a test needs a route, and at most ten are allowed in ten minutes', async () => {
    const before = asked.length;
    for (const [provider, body, status] of [
      ['own', { model: 'openai/gpt-5.4' }, 404],
      ['nobody', { model: 'own/wise' }, 404],
      ['own', {}, 400],
      ['own', { model: 'own/wise', url: 'http://127.0.0.1' }, 400],
    ] as const)
      expect([provider, (await tryOut(provider, body)).status]).toEqual([provider, status]);
    expect(asked).toHaveLength(before);
    const statuses: number[] = [];
    for (let n = before; n < 12; n += 1) statuses.push((await tryOut('own', { model: 'own/wise' })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 - before }, () => 200), 429, 429]);
    expect(asked).toHaveLength(10);
  });
});

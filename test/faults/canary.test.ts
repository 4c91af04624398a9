import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gate, TestKey } from '../simulator/gate.ts';
import { startGate } from '../simulator/gate.ts';
import type { OpenAiSimulator } from '../simulator/openai.ts';
import { startOpenAiSimulator } from '../simulator/openai.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { errorBody } from '../simulator/wire.ts';
import { until } from '../until.ts';

/** A secret that must not appear anywhere. It is valid in a header, a query, a JSON string and a key. */
const CANARY = `c4n4ry${crypto.randomUUID().replaceAll('-', '')}`;
const TOOL = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };

let simulator: OpenAiSimulator;
let gate: Gate;
let key: TestKey;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  gate = await startGate({ simulator, timeouts: { first_byte_ms: 300, idle_ms: 300 }, env: { TOLLGATE_LOG_LEVEL: 'debug' } });
  key = await gate.makeKey();
}, 120_000);
afterAll(async () => {
  await gate.stop();
  await simulator.stop();
}, 120_000);

async function send(
  body: JsonObject | string,
  init: { path?: string; headers?: Record<string, string>; method?: string } = {},
): Promise<string> {
  const response = await fetch(`${gate.origin}${init.path ?? '/v1/chat/completions'}`, {
    method: init.method ?? 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json', ...init.headers },
    ...(init.method !== 'GET' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return response.text();
}

function chat(fields: JsonObject = {}): JsonObject {
  return { model: 'mock/gpt', messages: [{ role: 'user', content: `Hi ${CANARY}` }], ...fields };
}

async function filesWith(text: string): Promise<string[]> {
  const entries = await readdir(gate.dataFolder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(paths.map(async (path) => ((await readFile(path)).includes(text) ? [path] : [])));
  expect(paths.length).toBeGreaterThan(0);
  return found.flat();
}

async function expectNoTrace(secret: string): Promise<void> {
  // On a busy machine, the first line may arrive later than the answer.
  await until(() => gate.logLines().length > 0);
  expect(gate.output()).not.toContain(secret);
  expect(await filesWith(secret)).toEqual([]);
}

describe('a secret of the caller leaves no trace', () => {
  test.each([
    'authorization',
    'cookie',
    'openai-organization',
    'openai-project',
    'x-api-key',
    'user-agent',
    'referer',
    'x-forwarded-for',
    'x-request-id',
    'accept',
    'content-type',
    'content-encoding',
    'idempotency-key',
    `x-${CANARY}`,
  ])('in the header %s', async (name) => {
    const values: Record<string, string> = { authorization: `Bearer sk-tg-${CANARY}`, cookie: `session=${CANARY}` };
    const headers = { [name]: values[name] ?? CANARY };
    for (const path of ['/v1/chat/completions', '/v1/models', '/v1/nowhere', '/']) {
      const method = path === '/v1/chat/completions' ? 'POST' : 'GET';
      expect(await send({ ...chat(), messages: [{ role: 'user', content: 'Hi' }] }, { path, method, headers })).not.toContain(CANARY);
    }
    await expectNoTrace(CANARY);
  });

  test.each([`/v1/models?key=${CANARY}`, `/v1/chat/completions?api_key=${CANARY}`, `/v1/nowhere?token=${CANARY}`, `/healthz?${CANARY}`])(
    'in the query %s',
    async (path) => {
      for (const method of ['GET', 'POST']) expect(await send('{}', { path, method })).not.toContain(CANARY);
      await expectNoTrace(CANARY);
    },
  );

  test.each<[string, JsonObject]>([
    ['prompt_cache_key', { prompt_cache_key: CANARY }],
    ['metadata', { metadata: { secret: CANARY } }],
    ['stop', { stop: [CANARY] }],
    ['a name', { messages: [{ role: 'user', name: CANARY, content: 'Hi' }] }],
    ['a part', { messages: [{ role: 'user', content: [{ type: 'text', text: CANARY }] }] }],
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${CANARY}` } }] }] }],
    [
      'a system message',
      {
        messages: [
          { role: 'system', content: CANARY },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    ['tools', { tools: [{ ...TOOL, function: { ...TOOL.function, description: CANARY } }] }],
    ['response_format', { response_format: { type: 'json_schema', json_schema: { name: CANARY, schema: {} } } }],
    ['prediction', { prediction: { type: 'content', content: CANARY } }],
    ['an unknown field', { secret: CANARY }],
  ])('in a good request: %s', async (_, fields) => {
    for (const stream of [false, true]) {
      expect(await send(chat({ ...fields, stream }))).not.toContain(CANARY);
    }
    expect(simulator.requests.at(-1)?.text).toContain(CANARY);
    await expectNoTrace(CANARY);
  });

  test.each(['user', 'safety_identifier'])(
    'except that an end user in %s, which usage shows, is stored in the database only',
    async (field) => {
      const endUser = `end-user-${crypto.randomUUID()}`;
      expect(await send(chat({ [field]: endUser }))).not.toContain(endUser);
      expect(gate.output()).not.toContain(endUser);
      for (const file of await filesWith(endUser)) expect(file).toMatch(/\/tollgate\.db(?:-wal)?$/u);
      await expectNoTrace(CANARY);
    },
  );

  test.each<[string, JsonObject | string]>([
    ['model', chat({ model: CANARY, messages: [{ role: 'user', content: 'Hi' }] })],
    ['model of the wrong type', chat({ model: [CANARY] })],
    ['messages', chat({ messages: CANARY })],
    ['role', chat({ messages: [{ role: CANARY, content: 'Hi' }] })],
    ['content', chat({ messages: [{ role: 'user', content: { secret: CANARY } }] })],
    ['temperature', chat({ temperature: CANARY })],
    ['n', chat({ n: CANARY })],
    ['stream', chat({ stream: CANARY })],
    ['tool_call_id', chat({ messages: [{ role: 'tool', tool_call_id: CANARY, content: 'Hi' }] })],
    ['tool_choice', chat({ tool_choice: CANARY })],
    ['a name in logit_bias', chat({ logit_bias: { [CANARY]: 'much' } })],
    ['broken JSON', `{"model": "mock/gpt", "messages": ${CANARY}`],
    ['text that is not JSON', CANARY],
  ])('in a bad request: %s', async (_, body) => {
    const text = await send(body);
    expect(JSON.parse(text)).toHaveProperty('error.message');
    expect(text).not.toContain(CANARY);
    await expectNoTrace(CANARY);
  });

  test('of a bad request, once its refusal is recorded', async () => {
    await send(chat({ model: CANARY }));
    // Refusals are collected for a second before they are written.
    await until(async () => (await filesWith('The model in the request does not exist')).length > 0);
    await expectNoTrace(CANARY);
  });

  test('when the provider fails', async () => {
    const body = errorBody({ message: `You sent ${CANARY}`, type: 'server_error' });
    simulator.next({ type: 'status', status: 500, body });
    expect(await send(chat())).not.toContain(CANARY);
    simulator.next({ type: 'status', status: 401, body });
    expect(await send(chat())).not.toContain(CANARY);
    for (const moment of [{ at: 'before_headers' }, { at: 'after_chunks', chunks: 3 }] as const) {
      for (const type of ['cut', 'hang'] as const) {
        simulator.next({ type, moment });
        expect(await send(chat({ stream: true }))).not.toContain(CANARY);
      }
    }
    await expectNoTrace(CANARY);
  });
});

describe('secrets of the gate leave no trace', () => {
  test('the secret of a key is not in the database, whole or in part', async () => {
    const { secret } = await gate.makeKey();
    await send(chat(), { headers: { authorization: `Bearer ${secret}` } });
    await expectNoTrace(secret);
    expect(await filesWith(secret.slice(12, -6))).toEqual([]);
    expect(JSON.stringify(await gate.run('key', 'list', '--account', key.email))).not.toContain(key.secret);
  });

  test("the provider's key appears in no file, log or answer", async () => {
    simulator.next({ type: 'status', status: 401, body: errorBody({ message: simulator.apiKey, type: 'x' }) });
    expect(await send(chat())).not.toContain(simulator.apiKey);
    await expectNoTrace(simulator.apiKey);
  });
});

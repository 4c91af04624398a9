import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { HOSTS } from '../../src/providers/hosts.ts';
import { startAnthropicSimulator } from '../simulator/anthropic.ts';
import { startBedrockSimulator } from '../simulator/bedrock.ts';
import { startGeminiSimulator } from '../simulator/gemini.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';
import { startOwnServer, type OwnServer } from '../simulator/own-server.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { entry, runModels as run } from './run-models.ts';

const claude = startAnthropicSimulator();
const gemini = startGeminiSimulator();
const bedrock = startBedrockSimulator();
let openai: OpenAiSimulator;
let own: OwnServer;

beforeAll(async () => {
  openai = await startOpenAiSimulator();
  own = startOwnServer({ object: 'list', data: [{ id: 'small', max_model_len: 4096 }] });
});
afterAll(async () => {
  await Promise.all([claude.stop(), gemini.stop(), bedrock.stop(), openai.stop(), own.stop()]);
});

/** Runs `models check --json`; returns the rows about models of the settings. */
async function check(
  settings: JsonObject,
  args: readonly string[] = [],
  variables = {},
): Promise<{ code: number | null; rows: JsonObject[]; all: JsonObject }> {
  const { code, stdout } = await run(settings, ['check', '--json', ...args], variables);
  const all = JSON.parse(stdout) as JsonObject;
  const rows = (all['routes'] as JsonObject[]).filter(({ model }) => /^(?:team|vllm)\//u.test(String(model)));
  return { code, rows, all };
}

/** Returns a model with this route only. */
function route(provider: string, model: string): JsonObject {
  return entry(`team/${provider}-${model}`, { routes: [{ provider, model }] });
}

const MOCK = { mock: { base_url: 'http://127.0.0.1:1/v1' } };

describe('models check', () => {
  test('finds no problem in the shipped catalogue, even with every provider on', async () => {
    const { code, stdout } = await run({}, ['check']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^MODEL +PROVIDER +ROUTE +STATUS +MS +TOKENS +MESSAGE\nsandbox\/echo +sandbox +echo +ready\n/u);
    expect(stdout).toMatch(/\d+ models, \d+ routes: 3 ready, \d+ off\.\n$/u);
    const keys = Object.fromEntries(
      Object.values(HOSTS).flatMap((host) => (host.addressVariable === undefined ? [[host.keyVariable, 'k']] : [])),
    );
    const all = await run({}, ['check'], keys);
    expect(all.code).toBe(0);
    expect(all.stdout).toMatch(/(\d+) models, (\d+) routes: \2 ready\.\n$/u);
  });

  test('says what a provider with a key still lacks', async () => {
    const { code, stdout } = await run({}, ['check'], { AZURE_OPENAI_API_KEY: 'k' });
    expect(code).toBe(0);
    expect(stdout).toContain('\nazure: stays off until AZURE_OPENAI_RESOURCE is set\n');
  });

  test.each<[what: string, changes: JsonObject, status: string, message: RegExp]>([
    ['whose output exceeds its context', { context_length: 2000 }, 'failed', /max_output_tokens 4000 exceeds the context of 2000/u],
    ['with a tiny context', { context_length: 100, max_output_tokens: 10 }, 'warning', /only 100 tokens/u],
    ['with output cheaper than input', { price: { input: 3, output: 2 } }, 'warning', /output tokens cost less/u],
    ['with expensive cached input', { price: { input: 1, cached_input: 2, output: 2 } }, 'warning', /cached input tokens cost more/u],
    [
      'with a long price beyond its context',
      { price: { input: 1, output: 2, long: { over: 100_000, input: 2, output: 4 } } },
      'warning',
      /longer than the context/u,
    ],
    [
      'with cheaper long prompts',
      { price: { input: 1, output: 2, long: { over: 10, input: 0.5, output: 4 } } },
      'warning',
      /long prompts cost less/u,
    ],
    [
      'with a route twice',
      {
        routes: [
          { provider: 'mock', model: 'a' },
          { provider: 'mock', model: 'a' },
        ],
      },
      'failed',
      /is listed twice/u,
    ],
    [
      'with a single weighted route',
      {
        routes: [
          { provider: 'mock', model: 'a', weight: 2 },
          { provider: 'mock', model: 'b' },
        ],
      },
      'warning',
      /no neighbouring route/u,
    ],
    [
      'that is free although its provider charges',
      { price: { input: 0, output: 0 }, routes: [{ provider: 'groq', model: 'a' }] },
      'warning',
      /free of charge, but groq is not/u,
    ],
    [
      'with an input that the dialect refuses',
      { routes: [{ provider: 'claude', model: 'claude-opus-5' }], input: ['text', 'audio'], features: [] },
      'failed',
      /audio input is promised, but refused/u,
    ],
    [
      'with a feature that the dialect drops',
      { routes: [{ provider: 'claude', model: 'claude-opus-5' }], features: ['logprobs'] },
      'warning',
      /logprobs is promised, but dropped/u,
    ],
    [
      'with more output than the provider accepts',
      { routes: [{ provider: 'claude', model: 'claude-3-haiku' }], features: [], max_output_tokens: 8000 },
      'warning',
      /at most 4096 are requested/u,
    ],
  ])('reports a model %s', async (_, changes, status, message) => {
    const providers = { ...MOCK, claude: { dialect: 'anthropic', base_url: 'http://127.0.0.1:1/v1' } };
    const { code, rows, all } = await check({ providers, models: [entry('team/a', changes)] }, [], { GROQ_API_KEY: 'k' });
    const reported = rows.map((row) => ({ status: row['status'], message: row['message'] }));
    expect(reported).toContainEqual({ status, message: expect.stringMatching(message) });
    expect({ code, ok: all['ok'] }).toEqual(status === 'failed' ? { code: 1, ok: false } : { code: 0, ok: true });
  });

  test('reports the same model at two prices, and two models with one name', async () => {
    const models = [entry('team/a', { name: 'A' }), entry('team/b', { name: 'A', price: { input: 5, output: 9 } })];
    const { rows } = await check({ providers: MOCK, models });
    expect(rows.map(({ message }) => message)).toEqual([
      '',
      'has the same name as team/a; team/a leads to the same model at another price',
    ]);
  });

  test('gives no warning about a provider that is off', async () => {
    const { rows } = await check({ models: [entry('team/a', { features: ['logprobs'], routes: [{ provider: 'groq', model: 'a' }] })] });
    expect(rows).toMatchObject([{ status: 'off', on: false }]);
  });

  test('reports invalid settings like every command', async () => {
    const { code, stderr } = await run({ models: [entry('team/a', { price: {} })], providers: MOCK }, ['check', '--live']);
    expect(code).toBe(1);
    expect(stderr).toContain('price.input: is missing');
  });
});

describe('models check --live', () => {
  test('calls every enabled route, in every dialect, and reports its usage', async () => {
    const providers = {
      mock: { base_url: openai.baseUrl, api_key: openai.apiKey },
      claude: { dialect: 'anthropic', base_url: claude.baseUrl, api_key: claude.apiKey },
      google: { dialect: 'gemini', base_url: gemini.baseUrl, api_key: gemini.apiKey },
      amazon: { dialect: 'bedrock', base_url: bedrock.baseUrl, api_key: bedrock.apiKey },
    };
    const routes = [
      { provider: 'mock', model: 'gpt-x' },
      { provider: 'claude', model: 'claude-opus-5' },
      { provider: 'google', model: 'gemini-3.6-flash' },
      { provider: 'amazon', model: 'anthropic.claude-opus-5' },
      { provider: 'groq', model: 'a' },
    ];
    const settings = { providers, models: [entry('team/a', { routes, features: [] })] };
    const { code, rows } = await check(settings, ['--live'], { VLLM_URL: own.baseUrl });
    expect(rows.map(({ provider, status, message }) => [provider, status, message])).toEqual([
      ['mock', 'ok', ''],
      ['claude', 'ok', ''],
      ['google', 'ok', ''],
      ['amazon', 'ok', ''],
      ['groq', 'off', ''],
      ['vllm', 'ok', ''],
    ]);
    expect(code).toBe(0);
    for (const row of rows.filter(({ on }) => on === true))
      expect(row).toMatchObject({ ms: expect.any(Number), input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
    expect(openai.requests).toHaveLength(1);
    expect(openai.requests[0]?.body).toMatchObject({ model: 'gpt-x', max_tokens: 16 });
    expect(own.called).toEqual(['small']);
  });

  test('reports the provider’s own error without our key, and times out', async () => {
    openai.reset();
    const secret = 'sk-wrong-secret-1234567890';
    openai.forModel('quiet', { type: 'hang', moment: { at: 'before_headers' } });
    openai.forModel('busy', { type: 'status', status: 429, body: { error: { message: `Too many for ${openai.apiKey}\nnow` } } });
    const providers = {
      mock: { base_url: openai.baseUrl, api_key: openai.apiKey },
      wrong: { base_url: openai.baseUrl, api_key: secret },
      gone: { base_url: 'http://127.0.0.1:1/v1' },
    };
    const models = [route('mock', 'quiet'), route('mock', 'busy'), route('wrong', 'gpt-x'), route('gone', 'a'), route('mock', 'fine')];
    const ended = await run({ providers, models, timeouts: { answer_ms: 2000 } }, ['check', '--live']);
    expect(ended.code).toBe(1);
    const line = (id: string): string => ended.stdout.split('\n').find((text) => text.startsWith(id)) ?? '';
    expect(line('team/mock-quiet')).toMatch(/failed +\d{4,} +no answer within 2 seconds$/u);
    expect(line('team/mock-busy')).toMatch(/failed .*429: Too many for \[redacted\] now$/u);
    expect(line('team/wrong-gpt-x')).toMatch(/failed .*401: /u);
    expect(line('team/gone-a')).toMatch(/failed /u);
    expect(line('team/mock-fine')).toMatch(/ok +\d+ +\d+\+\d+$/u);
    expect(ended.stdout + ended.stderr).not.toContain(secret);
    expect(ended.stdout + ended.stderr).not.toContain(openai.apiKey);
    expect(ended.stdout).toMatch(/4 ok, 4 failed, \d+ off\.\n$/u);
  });

  test('fails if a server of your own does not list its models', async () => {
    const { code, all } = await check({}, ['--live'], { OLLAMA_URL: 'http://127.0.0.1:1/v1' });
    expect(code).toBe(1);
    expect(all['providers']).toEqual([{ provider: 'ollama', message: 'its models could not be read: it could not be reached' }]);
    const short = await check({}, ['--live'], { VLLM_URL: own.baseUrl.replace('/v1', '') });
    const message = 'its models could not be read: it answered with status 404; its address probably lacks /v1';
    expect(short.all['providers']).toEqual([{ provider: 'vllm', message }]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig, type Config } from '../src/config.ts';
import type { Picos } from '../src/ledger/money.ts';
import { HOSTS, variablesOf } from '../src/providers/hosts.ts';

type Variables = Readonly<Record<string, string>>;

const MODEL = 'context_length: 1000, max_output_tokens: 100, price: { input: 1, output: 2 }';
const ROUTE = 'routes: [{ provider: elsewhere, model: x }]';
const INHERITED = ROUTE.replace('elsewhere', 'constructor');

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  file = join(folder, 'settings.yaml');
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(lines: readonly string[], variables: Variables = {}): Config {
  writeFileSync(file, lines.join('\n'));
  return loadConfig({ TOLLGATE_CONFIG: file, ...variables });
}

function mistakesOf(lines: readonly string[], variables: Variables = {}): string[] {
  try {
    load(lines, variables);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const [head, ...mistakes] = (error as ConfigError).message.split('\n');
    expect(head).toBe(`The settings have ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:`);
    return mistakes.map((mistake) => mistake.replace(/^ {2}- /u, ''));
  }
  throw new Error('the settings were accepted');
}

/** Runs work in an empty folder, so that a developer's own settings file does not interfere. */
function inEmptyFolder<Result>(work: () => Result): Result {
  const before = process.cwd();
  process.chdir(mkdtempSync(join(folder, 'empty-')));
  try {
    return work();
  } finally {
    process.chdir(before);
  }
}

describe('without settings', () => {
  test('the gate listens on loopback, keeps its data in ./data and has the sandbox', () => {
    const { config, cwd } = inEmptyFolder(() => ({ config: loadConfig({}), cwd: process.cwd() }));
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      publicUrl: undefined,
      dataFolder: join(cwd, 'data'),
      databasePath: join(cwd, 'data', 'tollgate.db'),
      logLevel: 'info',
      limits: { requestsPerMinute: 600, tokensPerMinute: 1_000_000, concurrent: 64, accountConcurrent: 256 },
      redisMs: 50,
      timeouts: { connectMs: 5000, firstByteMs: 60_000, answerMs: 600_000, idleMs: 120_000, totalMs: 1_800_000, keepAliveMs: 15_000 },
    });
    expect([...config.providers.keys()]).toEqual(['sandbox']);
    expect(config.models.map((model) => model.id)).toEqual(expect.arrayContaining(['sandbox/echo', 'sandbox/story']));
  });

  test.each([
    ['an empty file', []],
    ['a file of comments', ['# nothing yet']],
    ['an empty object', ['{}']],
  ])('%s is the same as no file', (_, lines) => {
    const { limits, timeouts } = inEmptyFolder(() => loadConfig({}));
    expect(load(lines)).toMatchObject({ limits, timeouts });
  });

  test('an empty environment variable counts as unset', () => {
    const variables = { HOST: '', PORT: '', PUBLIC_URL: '', TOLLGATE_LOG_LEVEL: '', DATABASE_URL: '', REDIS_URL: '', OPENAI_API_KEY: '' };
    const config = load([], variables);
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8787, publicUrl: undefined, databaseUrl: undefined, logLevel: 'info' });
    expect(config.providers.has('openai')).toBe(false);
  });
});

describe('valid settings', () => {
  test('the environment is read', () => {
    const variables = { HOST: '::1', PORT: '0', PUBLIC_URL: 'https://gate.example.com', DATABASE_URL: 'postgres://h/a' };
    const config = load([], { ...variables, TOLLGATE_DATA: folder });
    expect(config).toMatchObject({ host: '::1', port: 0, databaseUrl: 'postgres://h/a' });
    expect(config).toMatchObject({ publicUrl: 'https://gate.example.com', databasePath: join(folder, 'tollgate.db') });
  });

  test('the file is read, and missing settings keep their defaults', () => {
    const config = load(['limits: { concurrent: 3 }', 'timeouts: { idle_ms: 7 }']);
    expect(config.limits).toEqual({ requestsPerMinute: 600, tokensPerMinute: 1_000_000, concurrent: 3, accountConcurrent: 256 });
    expect(config.timeouts).toMatchObject({ idleMs: 7, totalMs: 1_800_000 });
  });

  test('a variable is filled in, also in the middle of a string', () => {
    const lines = ['providers:', '  mock: { base_url: "http://${MOCK_HOST}:9100/v1/", api_key: "${MOCK_KEY}" }'];
    expect(load(lines, { MOCK_HOST: '127.0.0.1', MOCK_KEY: 'sk-1' }).providers.get('mock')).toMatchObject({
      id: 'mock',
      dialect: 'openai',
      baseUrl: 'http://127.0.0.1:9100/v1',
      apiKey: 'sk-1',
    });
  });

  test('a secret with YAML syntax stays one string', () => {
    const secret = 'a: {b} #c\n- "d" ${OTHER} $& *e';
    const config = load(['payments: { bank_transfer: "${DETAILS}" }'], { DETAILS: secret });
    expect(config.payments.bankTransfer).toBe(secret);
  });

  test.each(Object.entries(HOSTS))('the environment enables %s', (id, host) => {
    const variables = Object.fromEntries(variablesOf(host).map((name) => [name, 'part']));
    const address = host.addressVariable === undefined ? host.baseUrl.replaceAll(/\{\w+\}/gu, 'part') : 'http://127.0.0.1:1/v1';
    const config = load([], { ...variables, ...(host.addressVariable === undefined ? {} : { [host.addressVariable]: address }) });
    expect(config.providers.get(id)).toMatchObject({ id, host, dialect: host.dialect ?? 'openai', baseUrl: address, apiKey: 'part' });
    expect([...config.providers.keys()].toSorted()).toEqual(['sandbox', id].toSorted());
  });

  test('the file may change the address of a known host, which keeps its key from the environment', () => {
    const config = load(['providers:', '  openai: { base_url: "http://127.0.0.1:9/v1" }'], { OPENAI_API_KEY: 'sk-1' });
    expect(config.providers.get('openai')).toMatchObject({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk-1' });
  });

  test('a model in the file replaces the shipped one with the same id, and a new id adds a model', () => {
    const shipped = load([]).models.map((model) => model.id);
    const config = load([
      'models:',
      `  - { id: openai/gpt-5, name: Ours, provider: mine, ${MODEL}, routes: [{ provider: sandbox, model: echo }] }`,
      `  - { id: mine/new, provider: mine, ${MODEL}, routes: [{ provider: sandbox, model: echo }] }`,
    ]);
    expect(config.models.map((model) => model.id).toSorted()).toEqual([...shipped, 'mine/new'].toSorted());
    expect(config.models.find((model) => model.id === 'openai/gpt-5')).toMatchObject({
      name: 'Ours',
      provider: 'mine',
      contextLength: 1000,
    });
    expect(config.models.find((model) => model.id === 'mine/new')).toMatchObject({ name: 'mine/new', features: expect.any(Array) });
  });

  test('prices are exact integers, whether written as a number or as a string', () => {
    const { models } = load([
      'models:',
      '  - id: mine/new',
      '    provider: mine',
      '    context_length: 1000',
      '    max_output_tokens: 100',
      '    price: { input: 0.1, cached_input: "0.000001", output: 2 }',
      '    routes: [{ provider: sandbox, model: echo }]',
    ]);
    const price = { input: 100_000n, cachedInput: 1n, cacheWrite: 100_000n, output: 2_000_000n };
    expect(models.find((model) => model.id === 'mine/new')?.price).toEqual(price as Record<keyof typeof price, Picos>);
  });

  test('everything in the result is frozen', () => {
    const config = load(
      [
        'providers:',
        '  mock: { base_url: http://127.0.0.1/v1 }',
        'models:',
        `  - { id: a, provider: mock, ${MODEL}, routes: [{ provider: mock, model: a }] }`,
      ],
      { OPENAI_API_KEY: 'sk-1' },
    );
    expect(unfrozenIn(config, 'config')).toEqual([]);
  });
});

const provider = (text: string): string[] => ['providers:', `  mock: { ${text} }`];
const model = (text: string): string[] => ['models:', '  - id: a/b', `    ${text}`];
const price = (text: string): string[] => [
  ...model('provider: a'),
  '    context_length: 1000',
  '    max_output_tokens: 100',
  '    routes: [{ provider: sandbox, model: echo }]',
  `    price: { input: 1, ${text} }`,
];

describe('a mistake is reported with its place and what to do', () => {
  test.each<[string, readonly string[], string, RegExp]>([
    ['an invalid address', provider('base_url: nowhere'), 'line 2: providers.mock.base_url', /http or https address/u],
    ['an address that is not http', provider('base_url: ftp://h/v1'), 'line 2: providers.mock.base_url', /http or https address/u],
    [
      'an unknown dialect',
      provider('base_url: http://h/v1, dialect: morse'),
      'line 2: providers.mock.dialect',
      /one of openai, anthropic/u,
    ],
    ['an unknown key at the top', ['', '# limits', 'limit: {}'], 'line 3: limit', /unknown setting.*docs\/configuration\.md/u],
    ['an unknown key inside', ['limits:', '  concurrent: 1', '  rpm: 5'], 'line 3: limits.rpm', /unknown setting/u],
    ['an unknown key of a model', model('context: 1'), 'line 3: models[0].context', /unknown setting/u],
    ['an amount that cannot be paid', ['payments:', '  presets_usd: [10, 9.995]'], 'line 2: payments.presets_usd[1]', /whole cents/u],
    ['an amount that is none', ['payments:', '  minimum_usd: five'], 'line 2: payments.minimum_usd', /must be USD/u],
    ['an unset variable', provider('base_url: http://h/v1, api_key: "${ABSENT}"'), 'line 2: providers.mock.api_key', /ABSENT is not set/u],
    [
      'an empty variable',
      provider('base_url: http://h/v1, api_key: "${EMPTY}"'),
      'line 2: providers.mock.api_key',
      /at least 1 character/u,
    ],
    ['a price with seven decimals', price('output: 0.0000001'), 'line 7: models[0].price.output', /at most six decimals/u],
    [
      'a price written as a string with seven decimals',
      price('output: "1.0000001"'),
      'line 7: models[0].price.output',
      /at most six decimals/u,
    ],
    ['a price below zero', price('output: -1'), 'line 7: models[0].price.output', /zero or more/u],
    ['a missing price', price('cached_input: 1'), 'line 7: models[0].price.output', /USD per million tokens/u],
    ['a limit below one', ['limits:', '  concurrent: -1'], 'line 2: limits.concurrent', /must be at least 1$/u],
    ['a limit that is a string', ['limits:', '  concurrent: many'], 'line 2: limits.concurrent', /must be a number$/u],
    ['a timeout of zero', ['timeouts:', '  idle_ms: 0'], 'line 2: timeouts.idle_ms', /must be at least 1$/u],
    ['a model id with spaces', ['models:', '  - id: "a b"'], 'line 2: models[0].id', /letters, digits/u],
    ['a missing field', ['limits: {}', 'models:', '  - { id: a/b }'], 'line 3: models[0].provider', /is missing; it must be text/u],
    ['a model without routes', model('routes: []'), 'line 3: models[0].routes', /at least 1 entry/u],
  ])('%s', (_, lines, place, hint) => {
    const reported = mistakesOf(lines, { EMPTY: '' }).filter((mistake) => mistake.startsWith(`${file}, ${place}: `));
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatch(hint);
  });

  test.each<[string, readonly string[], number]>([
    ['an open brace', ['limits: { concurrent: 1', 'timeouts: {}'], 2],
    ['a tab', ['limits:', '\tconcurrent: 1'], 2],
    ['a duplicate key', ['limits: {}', 'timeouts: {}', 'limits: {}'], 3],
    ['an alias without its anchor', ['limits: {}', 'timeouts: *usual'], 2],
  ])('YAML with %s', (_, lines, line) => {
    const mistakes = mistakesOf(lines);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toStartWith(`${file}, line ${line}: `);
  });

  test.each([
    ['PORT', '70000', /from 0 to 65535/u],
    ['PORT', 'http', /from 0 to 65535/u],
    ['PORT', '80.5', /from 0 to 65535/u],
    ['PUBLIC_URL', 'gate', /such as https:\/\/gate\.example\.com/u],
    ['TOLLGATE_LOG_LEVEL', 'loud', /one of debug, info/u],
    ['DATABASE_URL', 'mysql://h/tollgate', /such as postgres:\/\/user:password@host:5432\/tollgate/u],
    ['REDIS_URL', 'http://h', /such as redis:\/\/:password@host:6379/u],
  ])('the environment variable %s with %p', (name, value, hint) => {
    const mistakes = mistakesOf([], { [name]: value });
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toStartWith(`environment variable ${name}: `);
    expect(mistakes[0]).toMatch(hint);
  });

  test.each([
    ['a route to an unknown provider', ['models:', `  - { id: a/b, provider: a, ${MODEL}, ${ROUTE} }`], 2, /no such provider/u],
    ['a route to a name of every object', ['models:', `  - { id: a/b, provider: a, ${MODEL}, ${INHERITED} }`], 2, /such provider/u],
    ['a provider with the name of the sandbox', ['providers:', '  sandbox: { base_url: http://h/v1 }'], 2, /built-in sandbox/u],
    ['a provider without an address', ['limits: {}', 'providers:', '  mine: { api_key: abc }'], 3, /base_url is missing/u],
  ])('%s', (_, lines, line, hint) => {
    const mistakes = mistakesOf(lines);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatch(hint);
    expect(mistakes[0]).toStartWith(`${file}, line ${line}: `);
  });
});

describe('all mistakes are listed together', () => {
  test('mistakes of the environment and of the file', () => {
    const lines = [
      'providers:',
      '  mock: { base_url: nowhere, api_key: "${ABSENT}", colour: red }',
      'limits: { concurrent: -1 }',
      'models:',
      `  - { id: "a b", provider: a, ${MODEL}, routes: [{ provider: sandbox, model: x }] }`,
    ];
    const mistakes = mistakesOf(lines, { PORT: '-1', REDIS_URL: 'h:6379' });
    const expected = ['PORT', 'REDIS_URL', 'mock.base_url', 'ABSENT', 'mock.colour', 'limits.concurrent', 'models[0].id'];
    for (const part of expected) expect(mistakes.filter((mistake) => mistake.includes(part))).toHaveLength(1);
    expect(mistakes).toHaveLength(expected.length);
  });

  test('mistakes of single settings and of references between them', () => {
    const lines = ['limits: { concurrent: -1 }', 'models:', `  - { id: a/b, provider: a, ${MODEL}, ${ROUTE} }`];
    const text = mistakesOf(lines).join('\n');
    expect(text).toContain('limits.concurrent');
    expect(text).toContain('no such provider');
  });
});

test('a missing file is a mistake if it was named, and not if it is the default', () => {
  const missing = join(folder, 'missing.yaml');
  expect(() => loadConfig({ TOLLGATE_CONFIG: missing })).toThrow(`${missing}: cannot be read`);
  expect(() => inEmptyFolder(() => loadConfig({}))).not.toThrow();
  expect(() => inEmptyFolder(() => loadConfig({ TOLLGATE_CONFIG: '' }))).not.toThrow();
});

test('tollgate.yaml in the working folder is read by default', () => {
  const port = inEmptyFolder(() => {
    writeFileSync('tollgate.yaml', 'limits: { concurrent: 5 }');
    return loadConfig({}).limits.concurrent;
  });
  expect(port).toBe(5);
});

describe('the text of a mistake contains no secret', () => {
  test.each<[string, readonly string[], Variables]>([
    ['an invalid provider', ['providers:', '  mock: { api_key: "${CANARY}", base_url: "${CANARY}", dialect: "${CANARY}" }'], {}],
    ['a secret as a limit', ['limits: { concurrent: "${CANARY}" }'], {}],
    ['a secret as a price', ['models:', '  - { id: "${CANARY}", price: { input: "${CANARY}", output: "${CANARY}" } }'], {}],
    ['a secret in a broken line', ['providers:', '  mock: { api_key: c4n4ry', 'limits: {}'], {}],
    ['a secret as the model of a plan', ['plans:', '  - { id: a, models: ["${CANARY}"] }'], {}],
    ['a secret under a wrong key', ['providers:', '  mock: { base_url: http://h/v1, apikey: c4n4ry }'], {}],
    ['a secret as the provider of a route', ['models:', '  - { id: a/b, routes: [{ provider: "${CANARY}", model: m }] }'], {}],
    ['the content of a key file instead of its path', ['providers:', '  gemini-vertex: { service_account: "${CANARY}" }'], {}],
    ['a secret that YAML takes for a reference', ['providers:', '  mock: { base_url: http://h/v1, api_key: *c4n4ry }'], {}],
    ['provider keys beside a mistake', ['limits: { concurrent: 0 }'], { OPENAI_API_KEY: 'c4n4ry', PORT: 'x' }],
    ['the password of a database', [], { DATABASE_URL: 'mysql://tollgate:c4n4ry@h/tollgate' }],
    ['the password of a cache', [], { REDIS_URL: 'http://:c4n4ry@h' }],
  ])('%s', (_, lines, variables) => {
    expect(mistakesOf(lines, { CANARY: 'c4n4ry', ...variables }).join('\n')).not.toContain('c4n4ry');
  });
});

/** Returns the paths of all objects that are not frozen. */
function unfrozenIn(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const unfrozen = inner.flatMap(([key, item]) => unfrozenIn(item, `${path}.${key}`));
  return Object.isFrozen(value) ? unfrozen : [path, ...unfrozen];
}

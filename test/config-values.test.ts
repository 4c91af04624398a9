import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, publicUrlOf, type Config } from '../src/config.ts';

type Variables = Readonly<Record<string, string>>;

const KEY_LINES = ['providers:', '  mock: { base_url: http://127.0.0.1/v1, api_key: "${MOCK_KEY}" }'];

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-values-'));
  file = join(folder, 'settings.yaml');
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(lines: readonly string[], variables: Variables = {}): Config {
  writeFileSync(file, lines.join('\n'));
  return loadConfig({ TOLLGATE_CONFIG: file, ...variables });
}

test.each(['api_key: ${MOCK_KEY} }', 'api_key: ${MOCK_KEY}}', "api_key: '${MOCK_KEY}' }", 'api_key: "${MOCK_KEY}", }'])(
  'a variable inside braces needs no quotes: %s',
  (end) => {
    const { providers } = load([`providers: { mock: { base_url: http://127.0.0.1/\${PATH_1}, ${end} }`], {
      MOCK_KEY: 'sk-1',
      PATH_1: 'v1',
    });
    expect(providers.get('mock')).toMatchObject({ apiKey: 'sk-1', baseUrl: 'http://127.0.0.1/v1' });
  },
);

test.each([
  ['a default', 'providers: { mock: { base_url: http://127.0.0.1/v1, api_key: "${ABSENT:-sk-1}" } }', 'providers.mock.api_key'],
  ['a default, without quotes', 'providers: { mock: { base_url: http://127.0.0.1/v1, api_key: ${SET:-sk-1} } }', 'providers.mock.api_key'],
  ['the spelling of another program', 'payments: { bank_transfer: "To ${env:SET}" }', 'payments.bank_transfer'],
])('a variable with %s is a mistake, and not repeated, since it may hold a secret', (_, line, place) => {
  expect(() => load([line], { SET: 'x' })).toThrow(
    `The settings have a mistake:\n  - ${file}, line 1: ${place}: only \${NAME} is replaced: write the name alone, without a default`,
  );
});

test('a value cannot change the structure of the file', () => {
  const { providers } = load(['providers: { mock: { base_url: http://127.0.0.1/v1, api_key: ${MOCK_KEY} } }'], { MOCK_KEY: 'a}, b: {' });
  expect(providers.get('mock')?.apiKey).toBe('a}, b: {');
});

test('one syntax error does not become a hundred', () => {
  expect(() => load(['providers: { a: } b: { c: d } }', ...Array.from({ length: 50 }, (_, index) => `x${index}: 1`)])).toThrow(
    /^The settings have (?:a|2|3) mistakes?:/u,
  );
});

test('spaces and line ends around a provider key are removed', () => {
  const blanks = { OPENAI_API_KEY: ' sk-2\r\n', GROQ_API_KEY: ' ', OLLAMA_URL: 'http://127.0.0.1:1/v1/\n' };
  const { providers } = load(KEY_LINES, { MOCK_KEY: 'sk-1\n', ...blanks });
  expect(providers.get('mock')?.apiKey).toBe('sk-1');
  expect(providers.get('openai')?.apiKey).toBe('sk-2');
  expect(providers.get('groq')).toBeUndefined();
  expect(providers.get('ollama')?.baseUrl).toBe('http://127.0.0.1:1/v1');
});

test.each([
  ['https://gate.example.com/', 'https://gate.example.com'],
  ['HTTPS://Gate.Example.com:443', 'https://gate.example.com'],
  ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
])('the public address %p is normalized as browsers write it', (address, origin) => {
  expect(load([], { PUBLIC_URL: address }).publicUrl).toBe(origin);
});

test('an IPv6 address may be in brackets', () => {
  expect(publicUrlOf(load([], { HOST: '[::1]' }), 8787)).toBe('http://[::1]:8787');
});

test.each(['0.0.0.0', '::', '[::]'])('a server on every interface, %s, has a public address that a browser can open', (host) => {
  expect(publicUrlOf(load([], { HOST: host }), 8787)).toBe('http://127.0.0.1:8787');
});

test.each([
  ['PUBLIC_URL', 'ftp://gate.example.com', 'http or https'],
  ['PUBLIC_URL', 'https://example.com/gate', 'without a path'],
  ['PUBLIC_URL', 'https://example.com/?gate', 'without a path'],
  ['PUBLIC_URL', 'https://me:secret@example.com', 'without a path'],
  ['OLLAMA_URL', 'localhost:11434', 'http or https'],
  ['OLLAMA_URL', 'http://me:secret@localhost:11434/v1', 'no user name'],
  ['OPENAI_API_KEY', 'sk-1\nsk-2', 'one line'],
  ['OPENAI_API_KEY', 'sk-schlüssel', 'plain letters'],
])('the environment variable %s with %p is a mistake', (name, value, hint) => {
  expect(() => load([], { [name]: value })).toThrow(new RegExp(`a mistake:\n  - environment variable ${name}: .*${hint}`, 'u'));
});

const provider = (text: string): string[] => ['providers:', `  ${text}`];
const ADDRESS = 'line 2: providers.mock.base_url: must have no user name, ? or #';

test.each<[string, readonly string[], string]>([
  ['a key of two lines', KEY_LINES, 'line 2: providers.mock.api_key: must be one line'],
  [
    'a sender without an address',
    ['accounts: { mail_from: Tollgate }'],
    'line 1: accounts.mail_from: must be an address such as Tollgate <',
  ],
  ['a second document', ['limits: {}', '---', 'media: {}'], 'line 2: another document begins here; the settings must be one'],
  ['an address with a query', provider('mock: { base_url: "http://h/v1?api-version=1" }'), ADDRESS],
  ['an address with an empty query', provider('mock: { base_url: "http://h/v1?" }'), ADDRESS],
  ['an address with a fragment', provider('mock: { base_url: "http://h/v1#top" }'), ADDRESS],
  ['an address with a user name', provider('mock: { base_url: "http://me:secret@h/v1" }'), ADDRESS],
  [
    'a provider with a name that every object has',
    provider('constructor: { api_key: k }'),
    'line 2: providers.constructor: base_url is missing',
  ],
  ['a provider named __proto__', provider('__proto__: { base_url: "http://h/v1" }'), 'line 2: nothing can be named __proto__'],
  ['a missing section', ['models:', '  - { id: a/b }'], 'line 2: models[0].price: is missing; it must be a group of fields'],
  ['part of a number', ['limits: { concurrent: 1.5 }'], 'line 1: limits.concurrent: must be a whole number'],
  ['a number that is too large', ['timeouts: { connect_ms: 86400001 }'], 'line 1: timeouts.connect_ms: must be at most 86400000'],
  ['an unknown word', ['accounts: { sign_up: maybe }'], 'line 1: accounts.sign_up: must be one of open, invite, closed'],
  ['a value for a list', ['http: { trusted_proxies: 127.0.0.1 }'], 'line 1: http.trusted_proxies: must be a list'],
])('%s is a mistake', (_, lines, expected) => {
  expect(() => load(lines, { MOCK_KEY: 'a\nb' })).toThrow(expected);
});

test('a provider may have a name that every object has', () => {
  const { providers } = load(provider('constructor: { base_url: "http://h/v1" }'));
  expect(providers.get('constructor')).toMatchObject({ baseUrl: 'http://h/v1', dialect: 'openai', host: undefined });
});

test.each(['models', 'plans'])('%s without an id are not reported as duplicates', (section) => {
  const reported: string[] = [];
  try {
    load([`${section}:`, '  - { name: A }', '  - { name: B }', '  - { id: 7 }', '  - { id: 7 }']);
  } catch (error) {
    reported.push(...(error as Error).message.split('\n').filter((mistake) => mistake.includes('].id: ')));
  }
  expect(reported).toHaveLength(4);
  expect(reported.join('\n')).not.toContain('there is another');
});

const plan = (models: string): string => `  - { id: a, name: A, price_usd: 1, included_usd: 1, models: [${models}] }`;

test.each<[string, string]>([
  ['openai/gpt5', 'there is no such model. Did you mean openai/gpt-5?'],
  ['gpt-5', 'there is no such model. Did you mean openai/gpt-5?'],
  ['antropic/*', 'there is no such model. Did you mean anthropic/*?'],
  ['team/lage', 'there is no such model. Did you mean team/large?'],
  ['nobody/nothing-like-it', 'there is no such model. List them with: models list --all'],
])('the unknown model %s in a plan is a mistake', (model, expected) => {
  const facts = 'context_length: 1000, max_output_tokens: 100, price: { input: 1, output: 2 }';
  const lines = ['models:', `  - { id: team/large, provider: team, ${facts}, routes: [{ provider: openai, model: gpt-5 }] }`];
  expect(() => load([...lines, 'plans:', plan(`sandbox/echo, ${model}`)])).toThrow(`line 4: plans[0].models[1]: ${expected}`);
});

test('a plan may have any model that the settings or a server of your own may have', () => {
  const lines = ['providers:', '  mine: { like: vllm, base_url: "http://127.0.0.1:1/v1", discover: true }', 'plans:'];
  const { plans } = load([...lines, plan('sandbox/echo, openai/*, ollama/llama3.3, mine/any')]);
  expect(plans[0]?.models).toEqual(['sandbox/echo', 'openai/*', 'ollama/llama3.3', 'mine/any']);
});

describe('docs/configuration.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/configuration.md'), 'utf8');
  const [settings = '', mistakes = ''] = page.split('\n## What mistakes look like\n');

  test('has examples that load, all of them as one file', () => {
    const examples = [...settings.matchAll(/^```yaml\n(\w.*?)^```/gmsu)].map(([, text = '']) => text);
    expect(examples.length).toBeGreaterThan(3);
    expect(load(examples, { OTHER_API_KEY: 'k', ACME_SECRET: 'k' }).plans).not.toEqual([]);
  });

  test('shows mistakes as they are reported', () => {
    const [, example = '', report = ''] = /```yaml\n(.*?)```.*?```\n(.*?)\n```/su.exec(mistakes) ?? [];
    expect(() => load([example], { PORT: '99999' })).toThrow(report.replaceAll('tollgate.yaml', file));
  });
});

test('a file in another encoding is a mistake', () => {
  writeFileSync(file, Buffer.from('payments: { bank_transfer: "Für Tollgate" }', 'latin1'));
  expect(() => loadConfig({ TOLLGATE_CONFIG: file })).toThrow(`${file}: cannot be read (it is not written in UTF-8)`);
});

const SIGNING = 'access_key_id: a, secret_access_key: b, region: eu-central-1';

test.each<[string, string, Variables, string]>([
  ['azure', 'api_key: k', { AZURE_OPENAI_RESOURCE: 'ours' }, 'https://ours.openai.azure.com'],
  ['bedrock', SIGNING, {}, 'https://bedrock-runtime.eu-central-1.amazonaws.com'],
  ['bedrock', SIGNING, { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'us-east-1' }, 'https://bedrock-runtime.eu-central-1.amazonaws.com'],
])('the address of %s is built from the file and the environment: %s, %o', (id, entry, variables, baseUrl) => {
  expect(load(['providers:', `  ${id}: { ${entry} }`], variables).providers.get(id)).toMatchObject({ baseUrl });
});

test('incomplete keys for signing are a mistake', () => {
  expect(() => load(['providers:', '  bedrock: { access_key_id: a }'], { AWS_REGION: 'eu-central-1' })).toThrow(
    'providers.bedrock: secret_access_key and region are missing: requests are signed with all three',
  );
});

describe('the credentials of a provider', () => {
  const HOST = 'base_url: "http://127.0.0.1/v1"';
  const VERTEX = 'dialect: gemini-vertex, base_url: "https://eu-west1-aiplatform.googleapis.com/v1/projects/p"';

  test.each<[string, string, readonly string[]]>([
    [
      'keys of AWS for a relayed host',
      `mock: { ${HOST}, ${SIGNING} }`,
      ['access_key_id', 'secret_access_key', 'region'].map(
        (name) => `providers.mock.${name}: is not for the dialect openai, which takes api_key`,
      ),
    ],
    [
      'a service account where no token is fetched',
      `mock: { ${HOST}, service_account: "\${ACCOUNT}" }`,
      ['providers.mock.service_account: is not for the dialect openai, which takes api_key'],
    ],
    [
      'a service account for Bedrock',
      'bedrock: { region: eu-central-1, service_account: "${ACCOUNT}" }',
      [
        'providers.bedrock.service_account: is not for the dialect bedrock, which takes access_key_id, secret_access_key, region, session_token, api_key',
      ],
    ],
    [
      'the version of another API',
      'anthropic: { api_key: k, api_version: "2023-06-01" }',
      ['providers.anthropic.api_version: is not for the dialect anthropic, which takes api_key'],
    ],
    [
      'both kinds',
      `bedrock: { ${SIGNING}, api_key: k }`,
      ['providers.bedrock: has access_key_id and api_key, but requests carry only one: remove the other'],
    ],
    [
      'a session token alone',
      'bedrock: { region: eu-central-1, session_token: t }',
      ['providers.bedrock: access_key_id and secret_access_key are missing: requests are signed with all three'],
    ],
    [
      'none for a known host',
      'groq: {}',
      ['providers.groq: has no credential: give api_key, or set the environment variable GROQ_API_KEY'],
    ],
    [
      'none at the address of a known host',
      'mine: { base_url: "https://api.openai.com/v1" }',
      ['providers.mine: has no credential: give api_key'],
    ],
    [
      'none for Bedrock',
      'bedrock: { region: eu-central-1 }',
      ['providers.bedrock: has no credential: give access_key_id or api_key, or set the environment variable AWS_BEARER_TOKEN_BEDROCK'],
    ],
    ['none at Vertex', `google: { ${VERTEX} }`, ['providers.google: has no credential: give service_account or api_key']],
  ])('are refused: %s', (_, entry, expected) => {
    const mistakes = expected.map((mistake) => `\n  - ${file}, line 2: ${mistake}`).join('');
    const account = join(folder, 'account.json');
    writeFileSync(account, JSON.stringify({ client_email: 'gate@example.com', private_key: 'k', token_uri: 'https://example.com/token' }));
    const count = expected.length === 1 ? 'a mistake' : `${expected.length} mistakes`;
    expect(() => load(provider(entry), { ACCOUNT: account })).toThrow(new Error(`The settings have ${count}:${mistakes}`));
  });

  test.each<[string, string, Variables]>([
    ['an API key of Bedrock, with the region of its address', 'bedrock: { api_key: k, region: eu-central-1 }', {}],
    ['the key from the environment', 'groq: {}', { GROQ_API_KEY: 'k' }],
    ['none at an address of your own, which may add it', 'claude: { dialect: anthropic, base_url: "https://proxy.example.com" }', {}],
    ['none for a server of your own', 'ollama: {}', {}],
    ['an access token at Vertex', `google: { ${VERTEX}, api_key: k }`, {}],
  ])('are accepted: %s', (_, entry, variables) => {
    expect(load(provider(entry), variables).providers.size).toBe(2);
  });
});

test('an incomplete address is a mistake', () => {
  expect(() => load(['providers:', '  azure: { api_key: k }'])).toThrow(
    'providers.azure: base_url is missing; give it, or set the environment variable AZURE_OPENAI_RESOURCE',
  );
});

test('a host whose address the file changes keeps its key, even if the environment lacks its address', () => {
  const config = load(['providers:', '  azure: { base_url: "https://azure.example.com" }'], { AZURE_OPENAI_API_KEY: 'k' });
  expect(config.providers.get('azure')).toMatchObject({ apiKey: 'k', credential: 'AZURE_OPENAI_API_KEY' });
  expect(config.incompleteHosts).toEqual([]);
});

test('a host with a key but without its other variables stays off, and the missing ones are listed', () => {
  const halves = { AZURE_OPENAI_API_KEY: 'k', CLOUDFLARE_API_TOKEN: 'k', CLOUDFLARE_ACCOUNT_ID: ' ', AWS_REGION: 'eu-central-1' };
  const config = load([], halves);
  expect([...config.providers.keys()]).toEqual(['sandbox']);
  expect(config.incompleteHosts).toEqual([
    { id: 'azure', missing: ['AZURE_OPENAI_RESOURCE'] },
    { id: 'cloudflare', missing: ['CLOUDFLARE_ACCOUNT_ID'] },
  ]);
});

test('a file whose YAML refers to itself is a mistake', () => {
  expect(() => load(['limits: &limits', '  concurrent: *limits'])).toThrow(`  - ${file}: cannot be read (`);
});

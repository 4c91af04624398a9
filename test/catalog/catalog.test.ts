import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Catalog, describeModel, modelSchema, type Model } from '../../src/catalog/catalog.ts';
import { loadConfig } from '../../src/config.ts';
import { supportedParameters } from '../../src/gateway/supported-parameters.ts';
import type { JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import { ProviderFault } from '../../src/providers/dialect.ts';
import { SANDBOX_PROVIDER } from '../../src/providers/sandbox.ts';

/** The catalogue as shipped, with empty settings. */
const { models: shipped, providers } = loadConfig({ TOLLGATE_CONFIG: '/dev/null' });
const hosted = shipped.filter((model) => model.provider !== SANDBOX_PROVIDER);
const TODAY_SECONDS = Date.now() / 1000;

const ENTRY = {
  id: 'mock/gpt',
  name: 'Mock GPT',
  provider: 'mock',
  created: 1_700_000_000,
  context_length: 128_000,
  max_output_tokens: 16_384,
  input: ['text', 'image'],
  features: ['tools', 'reasoning'],
  price: { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 },
  routes: [
    { provider: 'mock', model: 'gpt-x' },
    { provider: 'other', model: 'gpt-y' },
  ],
};

function readPage(path: string): string {
  return readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
}

function makeModel(changes: object = {}): Model {
  return modelSchema.parse({ ...ENTRY, ...changes });
}

describe('the shipped catalogue', () => {
  test('has at least 60 models of at least 12 providers', () => {
    expect(hosted.length).toBeGreaterThanOrEqual(60);
    expect(new Set(hosted.map((model) => model.provider)).size).toBeGreaterThanOrEqual(12);
  });

  test('has as many models and providers as the docs say', () => {
    const makers = new Set(hosted.map((model) => model.provider)).size;
    expect(readPage('README.md')).toContain(`ships ${hosted.length} models of these ${makers} providers`);
    expect(readPage('docs/providers.md')).toContain(`The catalogue has ${hosted.length} models.`);
  });

  test('has unique ids and names', () => {
    expect(new Set(shipped.map((model) => model.id)).size).toBe(shipped.length);
    expect(new Set(shipped.map((model) => model.name)).size).toBe(shipped.length);
  });

  test.each(hosted.map((model) => [model.id, model] as const))('%s is complete and plausible', (id, model) => {
    const { price } = model;
    for (const prices of price.long === undefined ? [price] : [price, price.long]) {
      expect(prices.input > 0n && prices.output > 0n && prices.cachedInput > 0n && prices.cacheWrite > 0n).toBe(true);
      expect(prices.cachedInput <= prices.input && prices.input <= prices.output).toBe(true);
    }
    if (price.long !== undefined) {
      expect(price.long.overTokens).toBeWithin(1000, model.contextLength + 1);
      expect(price.long.input >= price.input && price.long.output >= price.output).toBe(true);
    }
    expect(id).toStartWith(`${model.provider}/`);
    expect(model.contextLength).toBeWithin(4096, 20_000_000);
    expect(model.maxOutputTokens).toBeWithin(1024, model.contextLength + 1);
    expect(model.createdAtSeconds).toBeWithin(1_600_000_000, TODAY_SECONDS);
    expect(model.createdAtSeconds % 86_400).toBe(0);
    expect(model.inputModalities).toContain('text');
    expect(model.outputModalities).toContain('text');
    for (const route of model.routes) expect(Object.keys(HOSTS)).toContain(route.provider);
    expect(Object.keys(HOSTS)).toContain(model.provider);
  });
});

describe('a host', () => {
  test.each(Object.entries(HOSTS))('%s has a secure address without a trailing slash, and its own variable', (_, host) => {
    // Only a self-hosted server may be reached without encryption, and only on this machine.
    const isOwn = host.addressVariable !== undefined;
    expect(host.baseUrl).toMatch(
      isOwn ? /^http:\/\/127\.0\.0\.1:\d+\/v1$/u : /^https:\/\/([a-z0-9.-]|\{[A-Z_]+\})+(\/([a-z0-9/-]|\{[A-Z_]+\})*[a-z0-9])?$/u,
    );
    expect(host.keyVariable).toMatch(/^[A-Z_]+_(API_KEY|API_TOKEN|TOKEN|TOKEN_BEDROCK)$/u);
    expect(Object.values(HOSTS).filter((other) => other.keyVariable === host.keyVariable)).toHaveLength(1);
  });
});

describe('a model', () => {
  test('is described by OpenAI’s four fields and the extras that clients read', () => {
    expect(describeModel(makeModel(), ['max_tokens', 'tools'])).toEqual({
      id: 'mock/gpt',
      object: 'model',
      created: 1_700_000_000,
      owned_by: 'mock',
      name: 'Mock GPT',
      context_length: 128_000,
      max_output_tokens: 16_384,
      pricing: { prompt: '0.0000025', completion: '0.00001', input_cache_read: '0.00000125', input_cache_write: '0.000003125' },
      architecture: { modality: 'text+image->text', input_modalities: ['text', 'image'], output_modalities: ['text'] },
      supported_parameters: ['max_tokens', 'tools'],
    });
  });

  test.each(shipped.map((model) => [model.id, model] as const))('%s is described in full', (id, model) => {
    const described = describeModel(model, supportedParameters(model, providers));
    expect(described).toMatchObject({
      id,
      object: 'model',
      owned_by: model.provider,
      created: expect.any(Number),
      name: expect.any(String),
    });
    for (const price of Object.values(described['pricing'] as Record<string, string>)) expect(price).toMatch(/^(0|0\.0*[1-9]\d*)$/u);
    const parameters = described['supported_parameters'] as string[];
    expect(new Set(parameters).size).toBe(parameters.length);
  });

  test('charges the input price for cached tokens if no other price is listed', () => {
    const { price } = makeModel({ price: { input: 3, output: 15 } });
    expect(price).toEqual({ input: price.input, cachedInput: price.input, cacheWrite: price.input, output: price.output });
  });

  test('raises the cache price in the long tier by the same factor as the input price', () => {
    const { price } = makeModel({
      price: { input: 1, cached_input: 0.1, cache_write: 1.25, output: 5, long: { over: 200_000, input: 2, output: 7 } },
    });
    expect(price.long).toMatchObject({ overTokens: 200_000, input: 2_000_000n, cachedInput: 200_000n, cacheWrite: 2_500_000n });
  });

  test('with free input has a free cache in its long tier too', () => {
    const { price } = makeModel({ price: { input: 0, output: 5, long: { over: 10, input: 2, output: 7 } } });
    expect(price.long).toMatchObject({ input: 2_000_000n, cachedInput: 0n, cacheWrite: 0n });
  });
});

const TOOL = { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } };
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };

/** Requests that use each parameter a model can list. */
const SAMPLES: Readonly<Record<string, readonly JsonObject[]>> = {
  max_tokens: [{ max_tokens: 50 }],
  max_completion_tokens: [{ max_completion_tokens: 50 }],
  stop: [{ stop: 'END' }, { stop: ['END', 'FIN'] }],
  seed: [{ seed: 42 }],
  temperature: [{ temperature: 0 }, { temperature: 0.7 }],
  top_p: [{ top_p: 0.9 }],
  frequency_penalty: [{ frequency_penalty: 0.2 }],
  presence_penalty: [{ presence_penalty: -0.2 }],
  logit_bias: [{ logit_bias: { 1234: -100 } }],
  logprobs: [{ logprobs: true }],
  top_logprobs: [{ logprobs: true, top_logprobs: 5 }],
  tools: [{ tools: [TOOL] }],
  tool_choice: ['auto', 'none', 'required', { type: 'function', function: { name: 'look_up' } }].map((choice) => ({
    tools: [TOOL],
    tool_choice: choice,
  })),
  parallel_tool_calls: [true, false].map((isParallel) => ({ tools: [TOOL], parallel_tool_calls: isParallel })),
  response_format: [{ response_format: { type: 'json_object' } }],
  structured_outputs: [{ response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema: SCHEMA } } }],
  reasoning_effort: [{ reasoning_effort: 'low' }, { reasoning_effort: 'high' }],
  web_search_options: [{ web_search_options: {} }],
};

/** Returns the fields that the model's first route drops of this request, or the field it is refused for. */
function lossOf(model: Model, fields: JsonObject): readonly string[] {
  const [route = { provider: '', model: '' }] = model.routes;
  const host = HOSTS[route.provider];
  const dialect = route.provider === SANDBOX_PROVIDER ? 'sandbox' : (host?.dialect ?? 'openai');
  const target = { baseUrl: 'https://host.example', host, apiKey: undefined, model: route.model, outputTokensMax: undefined };
  try {
    const chat = { model: model.id, messages: [{ role: 'user', content: 'Hello' }], ...fields };
    const maySearch = model.features.includes('web_search');
    return DIALECTS[dialect].encodeRequest(chat, { ...target, maySearch }).dropped ?? [];
  } catch (error) {
    if (error instanceof ProviderFault) return [`${error.param} is refused`];
    throw error;
  }
}

describe('supported_parameters', () => {
  test.each(shipped.map((model) => [model.id, model] as const))('of %s are the parameters that are sent', (_, model) => {
    const listed = supportedParameters(model, providers);
    const lost = listed.map((name) => [name, SAMPLES[name]?.flatMap((fields) => lossOf(model, fields))]);
    expect(lost).toEqual(listed.map((name) => [name, []]));
    const common = ['max_tokens', 'max_completion_tokens', 'stop', 'seed', 'temperature', 'top_p', 'response_format'];
    const sent = common.filter((name) => SAMPLES[name]?.every((fields) => lossOf(model, fields).length === 0));
    expect(sent.filter((name) => !listed.includes(name))).toEqual([]);
  });

  test.each<[what: string, changes: object, has: readonly string[], lacks: readonly string[]]>([
    ['leave out features that the model lacks', { features: [] }, ['max_tokens', 'stop'], ['tools', 'temperature', 'reasoning_effort']],
    ['are those of the first route', { routes: [{ provider: 'anthropic', model: 'claude-opus-5' }, ...ENTRY.routes] }, ['stop'], ['seed']],
    [
      'leave out searches that the route refuses',
      { features: ['web_search'], routes: [{ provider: 'bedrock', model: 'x' }] },
      [],
      ['web_search_options'],
    ],
  ])('%s', (_, changes, has, lacks) => {
    const listed = supportedParameters(makeModel({ routes: [{ provider: 'vllm', model: 'x' }], ...changes }), providers);
    expect(listed).toEqual(expect.arrayContaining([...has]));
    expect(listed.filter((name) => lacks.includes(name))).toEqual([]);
  });
});

describe('the catalogue', () => {
  const models = [makeModel(), makeModel({ id: 'other/gpt', routes: [{ provider: 'other', model: 'gpt-y' }] })];

  test('keeps the models of configured providers, each with only its usable routes', () => {
    const catalog = new Catalog(models, (provider) => provider === 'mock');
    expect(catalog.list().map((model) => model.id)).toEqual(['mock/gpt']);
    expect(catalog.find('mock/gpt')?.routes).toEqual([{ provider: 'mock', model: 'gpt-x' }]);
    expect(catalog.find('other/gpt')).toBeUndefined();
  });

  test('keeps the order of the routes', () => {
    expect(new Catalog(models, () => true).find('mock/gpt')?.routes).toEqual(ENTRY.routes);
  });

  test('does not modify the models it was given', () => {
    new Catalog(models, () => false).list();
    expect(models[0]?.routes).toHaveLength(2);
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', '', 'MOCK/GPT', 'mock/gpt ', 'mock', 'gpt-x'])(
    'has no model called %p',
    (id) => {
      expect(new Catalog(models, () => true).find(id)).toBeUndefined();
    },
  );

  test('leaves out disabled providers’ routes, and models without another, until they are enabled again', () => {
    const catalog = new Catalog(models, () => true);
    const found = makeModel({ id: 'own/found', routes: [{ provider: 'own', model: 'found' }] });
    catalog.disable(new Set(['other', 'own']));
    catalog.discover('own', [found]);
    expect(catalog.list().map((model) => model.id)).toEqual(['mock/gpt']);
    expect(catalog.find('mock/gpt')?.routes).toEqual([{ provider: 'mock', model: 'gpt-x' }]);
    expect(['mock/gpt', 'other/gpt', 'own/found', 'none'].map((id) => catalog.isPaused(id))).toEqual([false, true, true, false]);
    expect(catalog.listAll()).toHaveLength(3);
    catalog.disable(new Set());
    expect(catalog.find('mock/gpt')?.routes).toEqual(ENTRY.routes);
    expect(catalog.find('own/found')).toBe(found);
    expect(catalog.isPaused('other/gpt')).toBe(false);
  });

  test('treats a model called constructor like any other', () => {
    const catalog = new Catalog([makeModel({ id: 'constructor' })], () => true);
    expect(catalog.find('constructor')?.id).toBe('constructor');
  });
});

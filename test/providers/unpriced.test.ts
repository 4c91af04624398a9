import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import type { DialectName } from '../../src/providers/dialect-names.ts';
import { faultOf } from './fault-of.ts';

interface Place {
  readonly dialect: DialectName;
  readonly model: string;
  readonly host?: string;
  readonly maySearch?: boolean;
}

function send(
  { dialect, model, host, maySearch = false }: Place,
  chat: Partial<ChatRequest>,
): { body: JsonObject; dropped: readonly string[] } {
  const target = {
    baseUrl: 'https://host.example',
    apiKey: 'k',
    model,
    outputTokensMax: undefined,
    maySearch,
    host: host === undefined ? undefined : HOSTS[host],
  };
  const { body, dropped = [] } = DIALECTS[dialect].encodeRequest(
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...chat },
    target,
  );
  return { body: JSON.parse(body) as JsonObject, dropped };
}

const SEARCH = {
  web_search_options: { search_context_size: 'high', user_location: { type: 'approximate', approximate: { country: 'CH' } } },
};
const CLAUDE: Place = { dialect: 'anthropic', model: 'claude-opus-5' };
const GEMINI: Place = { dialect: 'gemini', model: 'gemini-3.6-flash' };
const BEDROCK: Place = { dialect: 'bedrock', model: 'anthropic.claude-opus-5' };
const RELAYED: Place = { dialect: 'openai', model: 'gpt-x' };
const SONAR: Place = { dialect: 'openai', model: 'sonar-pro', host: 'perplexity' };

describe('a web search', () => {
  test.each<[Place]>([
    [CLAUDE],
    [GEMINI],
    [BEDROCK],
    [RELAYED],
    [{ dialect: 'azure', model: 'gpt-x' }],
    [{ ...RELAYED, host: 'mistral' }],
    [{ ...BEDROCK, maySearch: true }],
  ])('of %o is refused without a price', (place) => {
    expect(faultOf(() => send(place, SEARCH))).toMatchObject({
      status: 400,
      param: 'web_search_options',
      message: expect.stringContaining('Leave out') as unknown,
    });
  });

  test.each<[Place, JsonObject, readonly string[]]>([
    [
      { ...CLAUDE, maySearch: true },
      { tools: [{ type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', country: 'CH' } }] },
      ['web_search_options.search_context_size'],
    ],
    [
      { ...GEMINI, maySearch: true },
      { tools: [{ googleSearch: {} }] },
      ['web_search_options.search_context_size', 'web_search_options.user_location'],
    ],
    [{ ...RELAYED, maySearch: true }, SEARCH, []],
    [{ ...SONAR, maySearch: true }, SEARCH, []],
  ])('of %o is requested if the model is sold with searches', (place, fields, dropped) => {
    const sent = send(place, SEARCH);
    expect(sent.body).toMatchObject(fields);
    expect(sent.dropped).toEqual(dropped);
  });

  test('by a model that always searches cannot be widened', () => {
    const { body, dropped } = send(SONAR, SEARCH);
    expect(body).not.toHaveProperty('web_search_options');
    expect(dropped).toEqual(['web_search_options']);
    expect(send(SONAR, {}).dropped).toEqual([]);
  });

  test('by Google cannot be combined with tools', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(faultOf(() => send({ ...GEMINI, maySearch: true }, { ...SEARCH, tools }))).toMatchObject({
      status: 400,
      param: 'web_search_options',
    });
  });

  test.each<[string, string, JsonObject]>([
    ['xai', 'search_parameters', { mode: 'on' }],
    ['dashscope', 'enable_search', { a: 1 }],
    ['openrouter', 'plugins', { id: 'web' }],
    ['openrouter', 'models', { a: 'dear' }],
    ['openrouter', 'preset', { a: 'dear' }],
    ['groq', 'compound_custom', { models: { answering_model: 'dear' } }],
  ])('under another name is dropped at %s: %s', (host, field, value) => {
    const { body, dropped } = send({ ...RELAYED, host }, { [field]: value });
    expect(body).not.toHaveProperty(field);
    expect(dropped).toEqual([field]);
  });
});

test('a deferred answer of xAI is requested at once', () => {
  const { body, dropped } = send({ ...RELAYED, host: 'xai' }, { deferred: true });
  expect(body).not.toHaveProperty('deferred');
  expect(dropped).toEqual(['deferred']);
});

describe('the choice of OpenRouter’s upstreams', () => {
  const OPENROUTER: Place = { ...RELAYED, host: 'openrouter' };

  test('is dropped, while the restriction on who may see the data is kept', () => {
    const provider = { order: ['dear'], only: ['dear'], sort: 'throughput', data_collection: 'deny', zdr: true };
    const { body, dropped } = send(OPENROUTER, { provider });
    expect(body['provider']).toEqual({ data_collection: 'deny', zdr: true });
    expect(dropped).toEqual(['provider.order', 'provider.only', 'provider.sort']);
  });

  test.each<[unknown, readonly string[]]>([
    [{ sort: 'latency' }, ['provider.sort']],
    ['dear', ['provider']],
    [{}, []],
  ])('is dropped: %j', (provider, dropped) => {
    const sent = send(OPENROUTER, { provider });
    expect(sent.body).not.toHaveProperty('provider');
    expect(sent.dropped).toEqual(dropped);
  });

  test('is passed on to every other host', () => {
    expect(send(RELAYED, { provider: { sort: 'latency' } }).body['provider']).toEqual({ sort: 'latency' });
  });
});

describe('a service tier', () => {
  test.each<[Place]>([[CLAUDE], [GEMINI], [BEDROCK], [RELAYED], [{ dialect: 'azure', model: 'gpt-x' }], [{ ...RELAYED, host: 'groq' }]])(
    'that costs more is dropped at %o',
    (place) => {
      for (const tier of ['priority', 'fast']) {
        const { body, dropped } = send(place, { service_tier: tier });
        expect(JSON.stringify(body)).not.toMatch(/tier/iu);
        expect(dropped).toEqual(['service_tier']);
      }
    },
  );

  test('that costs less is requested', () => {
    expect(send(RELAYED, { service_tier: 'flex' })).toMatchObject({ body: { service_tier: 'flex' }, dropped: [] });
  });
});

describe('a tool that the provider runs', () => {
  const tools = [
    { type: 'function', function: { name: 'f', parameters: {} } },
    { type: 'custom', custom: { name: 'c' } },
    { type: 'browser_search' },
  ];

  test.each<[Place]>([
    [RELAYED],
    [{ dialect: 'azure', model: 'gpt-x' }],
    [{ ...RELAYED, host: 'groq' }],
    [{ ...RELAYED, host: 'openrouter' }],
    [{ ...RELAYED, host: 'zai' }],
  ])('is refused at %o without a price', (place) => {
    expect(faultOf(() => send(place, { tools }))).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'tools[2]' });
    expect(send(place, { tools: tools.slice(0, 2) }).body['tools']).toHaveLength(2);
  });

  test.each<[Place]>([[{ ...RELAYED, host: 'groq', maySearch: true }], [{ ...RELAYED, host: 'vllm' }]])('is passed on at %o', (place) => {
    expect(send(place, { tools }).body['tools']).toEqual(tools);
  });
});

test.each<[Place]>([[GEMINI], [BEDROCK]])('a tool type that %o does not support is refused', (place) => {
  expect(faultOf(() => send(place, { tools: [{ type: 'web_search' }] }))).toMatchObject({ status: 400, param: 'tools[0]' });
});

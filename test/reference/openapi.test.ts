import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeInterface } from '../../src/reference/openapi.ts';
import { startGate, type Gate, type TestKey } from '../simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';

const document = describeInterface('https://gate.example.com');
const ajv = new Ajv2020({ strict: false });
const schemas = document.components.schemas;
const validators = new Map(Object.keys(schemas).map((name) => [name, ajv.compile(schemas[name] as object)]));

let simulator: OpenAiSimulator;
let gate: Gate;
let key: TestKey;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  gate = await startGate({ simulator });
  key = await gate.makeKey({ rpm: 100_000, tpm: 100_000_000 });
});
afterAll(async () => {
  await gate.stop();
  await simulator.stop();
});

function validatorOf(name: string): ValidateFunction {
  const validator = validators.get(name);
  if (validator === undefined) throw new Error(`no schema ${name}`);
  return validator;
}

/** Returns a description of what does not match; empty when everything does. */
function problemsOf(name: string, value: unknown): string {
  const validator = validatorOf(name);
  return validator(value) ? '' : ajv.errorsText(validator.errors);
}

async function ask(path: string, init: { body?: unknown; secret?: string } = {}): Promise<Response> {
  return fetch(`${gate.baseUrl}${path}`, {
    method: init.body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${init.secret ?? key.secret}`, 'content-type': 'application/json' },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
}

const messages = [{ role: 'user', content: 'Hello' }];
const plain = { model: 'sandbox/echo', messages };

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(document) as never)).toMatchObject({ valid: true });
  });

  test('lists every operation of the server, and no other', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const url = `${gate.baseUrl}${path.replace('{id}', 'sandbox/echo')}`;
        const { status } = await fetch(url, { method, headers: { authorization: `Bearer ${key.secret}` } });
        expect({ path, method, isKnown: status !== 404 }).toEqual({ path, method, isKnown: method.toLowerCase() in operations });
      }
    }
  });
});

describe('the responses of the running server match the document', () => {
  test('for a whole answer', async () => {
    const response = await ask('/chat/completions', { body: plain });
    expect(problemsOf('ChatCompletion', await response.json())).toBe('');
  });

  test('for every event of a stream', async () => {
    const response = await ask('/chat/completions', { body: { ...plain, stream: true, stream_options: { include_usage: true } } });
    const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
    expect(events.length).toBeGreaterThan(3);
    expect(events.map((line) => problemsOf('ChatCompletionChunk', JSON.parse(line.slice('data: '.length)))).filter(Boolean)).toEqual([]);
  });

  // vLLM and others spell out every field that they have nothing for.
  test('for an answer of a host that sends null for what is absent', async () => {
    const message = { role: 'assistant', content: 'x', refusal: null, reasoning_content: null, tool_calls: null, annotations: null };
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 1,
      total_tokens: 2,
      prompt_tokens_details: null,
      completion_tokens_details: null,
    };
    const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', usage };
    const body = { ...answer, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    simulator.next({ type: 'status', status: 200, body });
    const response = await ask('/chat/completions', { body: { ...plain, model: 'mock/gpt' } });
    expect(response.status).toBe(200);
    expect(problemsOf('ChatCompletion', await response.json())).toBe('');
  });

  test('for the list of models and a single model', async () => {
    expect(problemsOf('ModelList', await (await ask('/models')).json())).toBe('');
    expect(problemsOf('Model', await (await ask('/models/sandbox/echo')).json())).toBe('');
  });

  const refused: readonly [string, number, () => Promise<Response>][] = [
    ['a wrong parameter', 400, () => ask('/chat/completions', { body: { ...plain, n: 0 } })],
    ['a wrong key', 401, () => ask('/models', { secret: 'sk-wrong' })],
    [
      'an empty account',
      403,
      async () => ask('/chat/completions', { body: plain, secret: (await gate.makeKey({ creditUsd: '0' })).secret }),
    ],
    ['an unknown model', 404, () => ask('/chat/completions', { body: { ...plain, model: 'no/such' } })],
    ['a key at its rate limit', 429, tooMany],
  ];
  test.each(refused)('for the refusal of %s', async (_, status, request) => {
    const response = await request();
    expect(response.status).toBe(status);
    expect(problemsOf('Error', await response.json())).toBe('');
    const operation = document.paths['/chat/completions']?.['post'];
    expect(Object.keys(operation?.responses ?? {})).toContain(String(status));
  });

  test.each(Object.entries(document.paths))('for the refusal of a suspended account at %s', async (path, operations) => {
    const { secret, email } = await gate.makeKey();
    await gate.run('account', 'suspend', '--email', email);
    const response = await ask(path.replace('{id}', 'sandbox/echo'), { secret, ...('post' in operations && { body: plain }) });
    expect(response.status).toBe(403);
    expect(Object.values(operations).flatMap(({ responses }) => Object.keys(responses))).toContain('403');
  });

  test('for the headers of an error at the provider', async () => {
    simulator.next({ type: 'cut', moment: { at: 'after_chunks', chunks: 1 } });
    const response = await ask('/chat/completions', { body: { ...plain, model: 'mock/gpt' } });
    expect([response.status, response.headers.get('retry-after')]).toEqual([500, '1']);
    expect(document.paths['/chat/completions']?.['post']?.responses['500']).toHaveProperty(['headers', 'retry-after']);
  });

  test('for the headers of an answer', async () => {
    const response = await ask('/chat/completions', { body: plain });
    const known = new Set(Object.keys(document.components.headers));
    const own = [...response.headers.keys()].filter((name) => name.startsWith('x-'));
    expect(own.filter((name) => !known.has(name))).toEqual([]);
    expect(own).toContain('x-tollgate-cost');
  });
});

async function tooMany(): Promise<Response> {
  const { secret } = await gate.makeKey({ rpm: 1 });
  await ask('/chat/completions', { body: plain, secret });
  return ask('/chat/completions', { body: plain, secret });
}

/** Values of every kind, valid for some fields and invalid for others. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  2,
  -1,
  0.5,
  1.5,
  3,
  20,
  21,
  128,
  129,
  2 ** 31,
  '',
  'auto',
  'none',
  'low',
  'required',
  'text',
  'x'.repeat(129),
  'x'.repeat(513),
  [],
  ['a'],
  ['a', 'b', 'c', 'd', 'e'],
  [1],
  ['text'],
  ['video'],
  [{}],
  {},
  { a: 'b' },
  { a: 1 },
  { 50: 101 },
  { name: 'f' },
  { name: 'not a name' },
  { type: 'function' },
  { type: 'function', function: { name: 'f' } },
  { type: 'text' },
  { type: 'json_schema' },
  { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
  { type: 'xml' },
  [{ type: 'function', function: { name: 'f', parameters: {} } }],
  [{ type: 'function' }],
  [{ type: 'custom', custom: { name: 'c' } }],
  [{ type: 'web_search' }],
  [{ role: 'user', content: 'x' }],
  [{ role: 'user' }],
  [{ role: 'robot', content: 'x' }],
  [{ role: 'user', content: [] }],
  [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
  [{ role: 'user', content: [{ type: 'text', text: 1 }] }],
  [{ role: 'user', content: [{ type: 'text' }] }],
  [{ role: 'user', content: [{ type: 'image_url' }] }],
  [{ role: 'user', content: [{ type: 'image_url', image_url: 'data:image/png;base64,AA' }] }],
  [{ role: 'user', content: [{ type: 'smell' }] }],
  [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'x' }] }],
  [{ role: 'assistant', content: [{ type: 'thinking' }] }],
  ...[{ function: { name: 'f' } }, { type: 'function' }, { type: 'custom' }, { type: 'custom', custom: { name: 'c' } }, {}].map((call) => [
    { role: 'assistant', tool_calls: [{ id: 'call_1', ...call }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ]),
  [{ role: 'user', content: null }],
  [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }],
  { include_usage: true },
  { include_usage: 'yes' },
  { format: 1 },
  { format: 'wav' },
  Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`a${index}`, 'b'])),
  { ['a'.repeat(65)]: 'b' },
  { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
];

/** The fields that a field requires, so that the verdict is about the field alone. */
const COMPANIONS: Readonly<Record<string, object>> = {
  stream_options: { stream: true },
  top_logprobs: { logprobs: true },
  tool_choice: { tools: [{ type: 'function', function: { name: 'f' } }] },
};

describe('the document and the server agree on valid requests', () => {
  const request = schemas['ChatRequest'] as { readonly properties: Readonly<Record<string, unknown>> };
  test.each(Object.keys(request.properties))('for the field %s', async (field) => {
    const verdicts = await Promise.all(
      VALUES.map(async (value) => {
        const body = { ...plain, ...COMPANIONS[field], [field]: value };
        const response = await ask('/chat/completions', { body });
        const { error } = (await response.json().catch(() => ({}))) as { error?: { param: string | null; code: string | null } };
        // A request may also be refused because a model or provider does not support it. That does not make it malformed.
        const isUnsupported = error?.code === 'unsupported_parameter';
        const isRefused = response.status === 400 && !isUnsupported && error?.param?.split(/[.[]/u)[0] === field;
        return { value: JSON.stringify(value).slice(0, 80), isRefused, isDocumented: validatorOf('ChatRequest')(body) };
      }),
    );
    expect(verdicts.filter(({ isRefused, isDocumented }) => isRefused === isDocumented)).toEqual([]);
  });

  test('for every field that the server checks', async () => {
    const { checkedFields } = await import('../../src/openai/check-request.ts');
    expect(checkedFields().filter((field) => !(field in request.properties))).toEqual([]);
  });
});

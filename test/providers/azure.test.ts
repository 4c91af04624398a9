import { afterAll, describe, expect, test } from 'bun:test';
import { SseParser } from '../../src/http/sse.ts';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { azure } from '../../src/providers/azure.ts';
import type { Target } from '../../src/providers/dialect.ts';
import { startAzureSimulator, type AzureBehaviour } from '../simulator/azure.ts';
import { failureOf } from '../simulator/failure.ts';

const simulator = startAzureSimulator();
afterAll(() => simulator.stop());

const CHAT: ChatRequest = {
  model: 'mock/gpt',
  messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'assistant', content: 'Hm', reasoning_content: 'Hm' },
    { role: 'user', content: 'Hi' },
  ],
  max_tokens: 9,
};
const TARGET: Target = { baseUrl: simulator.baseUrl, apiKey: simulator.apiKey, model: simulator.deployment, outputTokensMax: undefined };

interface Outcome {
  readonly choices: readonly JsonObject[];
  readonly usage: unknown;
  readonly usageChunk?: JsonObject;
}

async function ask(stream: boolean, target: Target): Promise<Outcome> {
  const chat = { ...CHAT, stream };
  const request = azure.encodeRequest(chat, target);
  const response = await fetch(request.url, { method: 'POST', headers: request.headers, body: request.body });
  if (response.status !== 200) throw azure.decodeFault(await response.text(), response.status, (name) => response.headers.get(name));
  const context = { modelId: 'mock/gpt', wantsUsage: false, chat, requestId: 'r', createdSeconds: 1 };
  if (!stream) {
    const { body, usage } = azure.decodeReply(await response.text(), context);
    return { choices: body['choices'] as JsonObject[], usage };
  }
  const decoder = azure.decodeStream(context);
  const chunks = new SseParser().push(await response.bytes()).flatMap((event) => decoder.push(event));
  expect(decoder.isDone).toBe(true);
  const bodies = chunks.map((text) => JSON.parse(text) as { id: string; model: string; choices: JsonObject[] });
  expect(new Set(bodies.map(({ id, model }) => `${id} ${model}`))).toEqual(new Set(['chatcmpl-azure mock/gpt']));
  const usageChunk = JSON.parse(decoder.usageChunk({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 })) as JsonObject;
  return { choices: bodies.flatMap(({ choices }) => choices), usage: decoder.usage, usageChunk };
}

test.each([undefined, '2024-05-01-preview', '2024-10-21'])(
  'drops data_sources, which would open the operator’s stores, and a retention, which Azure refuses: version %s',
  (apiVersion) => {
    const asked = { ...CHAT, data_sources: [{ type: 'azure_search' }], prompt_cache_retention: '24h' };
    const { body, dropped } = azure.encodeRequest(asked, { ...TARGET, apiVersion });
    expect(JSON.parse(body)).not.toContainAnyKeys(['data_sources', 'prompt_cache_retention']);
    expect(dropped).toEqual(['data_sources', 'prompt_cache_retention']);
  },
);

describe('the request address', () => {
  test.each<[string, string, string | undefined, string]>([
    ['the v1 API', 'https://r.openai.azure.com', undefined, 'https://r.openai.azure.com/openai/v1/chat/completions'],
    [
      'the v1 API, given in full',
      'https://r.openai.azure.com/openai/v1',
      undefined,
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ],
    [
      'the v1 API with an undated version',
      'https://r.openai.azure.com/openai',
      'preview',
      'https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    ],
    [
      'a deployment',
      'https://r.openai.azure.com/openai',
      '2024-10-21',
      'https://r.openai.azure.com/openai/deployments/our%20gpt%2F5/chat/completions?api-version=2024-10-21',
    ],
  ])('for %s', (_, baseUrl, apiVersion, url) => {
    expect(azure.encodeRequest(CHAT, { ...TARGET, baseUrl, apiVersion }).url).toBe(url);
  });

  test.each<[string, string | undefined, JsonObject]>([
    ['a key', 'abc123', { 'api-key': 'abc123' }],
    ['an Entra token', 'eyJh.eyJi.c2ln', { authorization: 'Bearer eyJh.eyJi.c2ln' }],
    ['nothing', undefined, {}],
  ])('is called with credentials: %s', (_, apiKey, expected) => {
    expect(azure.encodeRequest(CHAT, { ...TARGET, apiKey }).headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      ...expected,
    } as Record<string, string>);
  });
});

const VERSIONS = [undefined, 'preview', '2024-06-01', '2024-08-01-preview', '2024-10-21', '2025-04-01-preview'];

describe.each(VERSIONS)('API version %p', (apiVersion) => {
  const target = { ...TARGET, apiVersion };

  test.each([false, true])('returns the answer (streamed: %p)', async (stream) => {
    simulator.behave('text');
    const { choices, usage, usageChunk } = await ask(stream, target);
    expect(choices.at(-1)).toMatchObject({ finish_reason: 'stop' });
    expect(JSON.stringify(choices)).toContain('Hello');
    expect(usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    if (stream) expect(usageChunk).toMatchObject({ id: 'chatcmpl-azure', model: 'mock/gpt', choices: [] });
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).not.toContain('reasoning_content');
  });
});

test.each([
  ['2024-06-01', 'system', 'max_tokens'],
  ['2024-10-21', 'system', 'max_completion_tokens'],
  ['2025-04-01-preview', 'developer', 'max_completion_tokens'],
])('version %s gets the role %s and the limit as %s', (apiVersion, role, limit) => {
  const body = JSON.parse(azure.encodeRequest(CHAT, { ...TARGET, apiVersion }).body) as { messages: JsonObject[] };
  expect(body).toMatchObject({ messages: [{ role }, {}, {}], [limit]: 9 });
});

describe('a content filter', () => {
  test.each([false, true])('that blocks the prompt is reported with its categories (streamed: %p)', async (stream) => {
    simulator.behave('prompt_blocked');
    expect(await failureOf(ask(stream, TARGET))).toMatchObject({
      status: 400,
      code: 'content_filter',
      param: 'messages',
      message: 'The response was filtered. (blocked: violence)',
    });
  });

  test.each([false, true])('that blocks the answer ends it with content_filter (streamed: %p)', async (stream) => {
    simulator.behave('answer_blocked');
    const { choices } = await ask(stream, TARGET);
    expect(choices.at(-1)).toMatchObject({ finish_reason: 'content_filter' });
    if (!stream) expect(choices[0]).toMatchObject({ message: { content: '' } });
  });

  test('that runs after the answer sends notes that clients can read', async () => {
    simulator.behave('late_filter');
    const { choices } = await ask(true, TARGET);
    expect(choices.filter(({ delta }) => typeof delta !== 'object')).toEqual([]);
    expect(choices.filter(({ finish_reason: reason }) => reason === 'stop')).toHaveLength(1);
    expect(choices.filter((choice) => 'content_filter_offsets' in choice)).toHaveLength(2);
  });
});

const read = (error: unknown): unknown => azure.decodeFault(JSON.stringify(error), 400, () => null);

describe('an error', () => {
  test.each<[string, AzureBehaviour, Partial<Target>, object]>([
    ['about the rate limit', 'throttled', {}, { status: 429, code: undefined }],
    ['about the key', 'text', { apiKey: 'wrong' }, { status: 401 }],
    ['about the deployment', 'text', { model: 'other' }, { status: 404, code: 'DeploymentNotFound' }],
    ['inside a stream', 'error_in_stream', {}, { status: 503, message: 'Overloaded' }],
  ])('%s', async (_, behaviour, target, fault) => {
    simulator.behave(behaviour);
    expect(await failureOf(ask(behaviour === 'error_in_stream', { ...TARGET, ...target }))).toMatchObject(fault);
  });

  test('from the filter may have no details', () => {
    expect(read({ error: { code: 'content_filter', message: 'No.' } })).toMatchObject({ message: 'No.', param: 'messages' });
    expect(read({ code: 'content_filter', message: 'No.' })).toMatchObject({ message: 'No.' });
    expect(
      read({ error: { code: 'content_filter', message: 'No.', innererror: { content_filter_result: { jailbreak: 1 } } } }),
    ).toMatchObject({ message: 'No.' });
  });
});

test('an Entra token is accepted', async () => {
  simulator.behave('text');
  expect((await ask(false, { ...TARGET, apiKey: simulator.token })).usage).toBeDefined();
});

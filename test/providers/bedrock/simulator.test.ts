import { afterAll, describe, expect, test } from 'bun:test';
import { AwsEventStreamParser } from '../../../src/http/aws-event-stream.ts';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { bedrock } from '../../../src/providers/bedrock/bedrock.ts';
import type { ProviderFault, Target } from '../../../src/providers/dialect.ts';
import { startBedrockSimulator, type ConverseBehaviour } from '../../simulator/bedrock.ts';
import { failureOf } from '../../simulator/failure.ts';

const simulator = startBedrockSimulator();
afterAll(() => simulator.stop());

const WEATHER = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const CHAT: ChatRequest = { model: 'mock/claude', messages: [{ role: 'user', content: 'Hi' }] };
const BEARER: Target = {
  baseUrl: simulator.baseUrl,
  apiKey: simulator.apiKey,
  model: 'anthropic.claude-sonnet-4-5-v1:0',
  outputTokensMax: undefined,
};
const SIGNED: Target = { ...BEARER, apiKey: undefined, aws: simulator.signer };

interface Outcome {
  readonly message: JsonObject;
  readonly finish: unknown;
  readonly usage: unknown;
  readonly carried: ReadonlyMap<string, string> | undefined;
}

/** Does what the gateway does with a request, without retries and clock. */
async function ask(chat: Partial<ChatRequest>, target: Target = BEARER): Promise<Outcome> {
  const whole = { ...CHAT, ...chat };
  const request = bedrock.encodeRequest(whole, target);
  const signed = (await bedrock.sign?.(request, target, Date.now())) ?? request;
  const response = await fetch(signed.url, { method: 'POST', headers: signed.headers, body: signed.body });
  if (response.status !== 200) throw bedrock.decodeFault(await response.text(), response.status, (name) => response.headers.get(name));
  const context = { modelId: 'mock/claude', providerModel: target.model, wantsUsage: true, chat: whole, requestId: 'r', createdSeconds: 1 };
  if (whole.stream === true) return readStream(response, context);
  const { body, usage, carried } = bedrock.decodeReply(await response.text(), context);
  const [choice] = body['choices'] as { message: JsonObject; finish_reason: string }[];
  return { message: choice?.message ?? {}, finish: choice?.finish_reason, usage, carried };
}

async function readStream(response: Response, context: Parameters<typeof bedrock.decodeStream>[0]): Promise<Outcome> {
  const parser = new AwsEventStreamParser();
  const decoder = bedrock.decodeStream(context);
  const chunks: string[] = [];
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    for (const event of parser.push(bytes)) chunks.push(...decoder.push(event));
  }
  parser.end();
  expect(decoder.isDone).toBe(true);
  return { ...joinChunks(chunks), usage: decoder.usage, carried: decoder.carried };
}

/** Joins chunks as a client does. */
function joinChunks(chunks: readonly string[]): { message: JsonObject; finish: unknown } {
  const message: { content: string | null; [name: string]: unknown } = { role: 'assistant', refusal: null, content: '' };
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  let finish: unknown;
  let thoughts = '';
  for (const text of chunks) {
    const [choice] = (JSON.parse(text) as { choices: { delta: JsonObject; finish_reason: unknown }[] }).choices;
    finish = choice?.finish_reason;
    const { content = '', reasoning_content: reasoning, tool_calls: toolCalls = [] } = choice?.delta ?? {};
    message.content += String(content);
    if (typeof reasoning === 'string') thoughts += reasoning;
    for (const { index, ...call } of toolCalls as ({ index: number } & (typeof calls)[0])[]) {
      const known = calls[index];
      if (known === undefined) calls[index] = call;
      else known.function.arguments += call.function.arguments;
    }
  }
  if (thoughts !== '') message['reasoning_content'] = thoughts;
  if (calls.length > 0) message['tool_calls'] = calls;
  if (calls.length > 0 && message.content === '') message.content = null;
  return { message, finish };
}

const call = (id: string, name: string, input: string): JsonObject => ({ id, type: 'function', function: { name, arguments: input } });
const text = 'Hello, naïve ☕ world.';

describe.each([
  ['complete, with a key', false, BEARER],
  ['streamed, with a key', true, BEARER],
  ['complete, signed', false, SIGNED],
  ['streamed, signed', true, SIGNED],
] as const)('an answer, %s', (_, stream, target) => {
  test.each<[ConverseBehaviour, JsonObject, string]>([
    ['text', { content: text }, 'stop'],
    ['tool_call', { content: text, tool_calls: [call('tooluse_1', 'weather', '{"city":"Zürich"}')] }, 'tool_calls'],
    [
      'parallel_tools',
      { content: null, tool_calls: [call('tooluse_1', 'weather', '{"city":"Zürich"}'), call('tooluse_2', 'clock', '{"zone":"CET"}')] },
      'tool_calls',
    ],
    ['tool_without_arguments', { content: null, tool_calls: [call('tooluse_3', 'clock', '{}')] }, 'tool_calls'],
    ['reasoning', { content: text, reasoning_content: 'Let me think.' }, 'stop'],
    ['refusal', { content: 'Sorry.' }, 'content_filter'],
    ['length', { content: 'Hello, na' }, 'length'],
    ['stop_sequence', { content: 'Hello' }, 'stop'],
    ['json', { content: '{"city":"Zürich"}' }, 'stop'],
  ])('of type %s', async (behaviour, message, finish) => {
    simulator.behave(behaviour);
    const outcome = await ask({ stream, tools: [WEATHER] }, target);
    expect(outcome.message).toEqual({ role: 'assistant', refusal: null, ...message });
    expect(outcome.finish).toBe(finish);
    expect(outcome.usage).toEqual({ inputTokens: 11, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 7, reasoningTokens: 0 });
  });

  test('counts the cache', async () => {
    simulator.behave('cache_hit');
    const { usage } = await ask({ stream }, target);
    expect(usage).toMatchObject({ inputTokens: 11, cachedInputTokens: 100, cacheWriteTokens: 40, outputTokens: 7 });
  });

  test('sends back kept reasoning, with the signature the provider requires', async () => {
    simulator.behave('reasoning_then_tool');
    const first = await ask({ stream, tools: [WEATHER], reasoning_effort: 'low' }, target);
    const messages = [...CHAT.messages, first.message, { role: 'tool', tool_call_id: 'tooluse_1', content: 'sunny' }];
    simulator.behave('text');
    const second = await ask(
      { stream, tools: [WEATHER], reasoning_effort: 'low', messages },
      { ...target, carried: first.carried ?? new Map() },
    );
    expect(second.message).toMatchObject({ content: text });
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).toContain('simulated-signature');
  });

  test.each<[ConverseBehaviour, Partial<ProviderFault>]>([
    ['throttled', { status: 429, code: 'ThrottlingException' }],
    ['malformed', { status: 502 }],
  ])('that fails with %s is a fault', async (behaviour, fault) => {
    simulator.behave(behaviour);
    expect(await failureOf(ask({ stream }, target))).toMatchObject(fault);
  });
});

describe('a stream that breaks', () => {
  test('by an exception is a fault with its status', async () => {
    simulator.behave('exception_in_stream');
    expect(await failureOf(ask({ stream: true }))).toMatchObject({ status: 429, message: 'Too many tokens.' });
  });

  test('by a cut connection is noticed', async () => {
    simulator.behave('cut');
    expect(String(await failureOf(ask({ stream: true })))).toContain('in the middle of an event');
  });
});

describe('credentials', () => {
  test.each<[string, Target]>([
    ['a wrong key', { ...BEARER, apiKey: 'other' }],
    ['none', { ...BEARER, apiKey: undefined }],
    ['a wrong secret', { ...SIGNED, aws: { ...simulator.signer, secretAccessKey: 'other' } }],
    ['another region', { ...SIGNED, aws: { ...simulator.signer, region: 'us-east-1' } }],
    ['no session', { ...SIGNED, aws: { ...simulator.signer, sessionToken: undefined } }],
  ])('are refused as our own fault: %s', async (_, target) => {
    expect(await failureOf(ask({}, target))).toMatchObject({ status: 403, code: 'UnrecognizedClientException' });
  });

  test('sign a model that is an ARN, whose path is encoded twice', async () => {
    simulator.behave('text');
    const model = 'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-v1:0';
    expect(await ask({}, { ...SIGNED, model })).toMatchObject({ finish: 'stop' });
    expect(simulator.requests.at(-1)?.model).toBe(model);
  });

  test('give the same signature for the same time, and set no host header', async () => {
    const request = bedrock.encodeRequest(CHAT, SIGNED);
    const [first, second] = await Promise.all([1, 1].map((moment) => bedrock.sign?.(request, SIGNED, moment)));
    expect(first).toEqual(second);
    expect(first?.headers).toHaveProperty('x-amz-date', '19700101T000000Z');
    expect(first?.headers).not.toHaveProperty('host');
  });
});

describe('the simulator', () => {
  test.each<[string, unknown, string]>([
    ['an unknown field', { messages: [{ role: 'user', content: [{ text: 'a' }] }], seed: 1 }, 'extraneous key [seed]'],
    ['no messages', { messages: [] }, 'messages must be a list'],
    ['the assistant first', { messages: [{ role: 'assistant', content: [{ text: 'a' }] }] }, 'alternate'],
    ['a blank text', { messages: [{ role: 'user', content: [{ text: ' ' }] }] }, 'blank'],
    [
      'calls without tools',
      {
        messages: [
          { role: 'user', content: [{ text: 'a' }] },
          { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'b', input: {} } }] },
          { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: 'c' }] } }] },
        ],
      },
      'toolConfig',
    ],
    [
      'a result without a call',
      { messages: [{ role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: 'c' }] } }] }] },
      'toolResult',
    ],
    [
      'a temperature of two',
      { messages: [{ role: 'user', content: [{ text: 'a' }] }], inferenceConfig: { temperature: 2 } },
      'temperature',
    ],
  ])('refuses %s', async (_, body, message) => {
    const response = await fetch(`${simulator.baseUrl}/model/m/converse`, {
      method: 'POST',
      headers: { authorization: `Bearer ${simulator.apiKey}` },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-amzn-errortype')).toStartWith('ValidationException');
    expect(((await response.json()) as { message: string }).message).toContain(message);
  });
});

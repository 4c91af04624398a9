import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SseParser } from '../../src/http/sse.ts';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { addressOf, HOSTS, variablesOf } from '../../src/providers/hosts.ts';
import type { Host } from '../../src/providers/host.ts';
import { openai } from '../../src/providers/openai.ts';
import { readFault } from '../../src/providers/read-fault.ts';
import { ProviderFault } from '../../src/providers/dialect.ts';
import { startCompatibleSimulator, type CompatibleSimulator } from '../simulator/compatible.ts';
import { failureOf } from '../simulator/failure.ts';

/** Every row of the table is tested against a loopback host that behaves as the row says. */

const CALL = { id: 'call_abcdefghij', type: 'function', index: 0, function: { name: 'weather', arguments: '{}' }, extra_content: {} };
/** A request with everything that hosts are known to stumble over. */
const CHAT: ChatRequest = deepFreeze({
  model: 'mock/model',
  messages: [
    { role: 'developer', content: 'Be brief.', name: null },
    { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning_content: 'Hm',
      reasoning_details: [],
      thinking_blocks: [],
      images: [],
      tool_calls: [CALL],
    },
    { role: 'tool', tool_call_id: 'call_abcdefghij', content: 'sunny' },
    { role: 'assistant', content: 'It is sunny.', reasoning: 'Hm', annotations: [] },
    { role: 'user', content: 'Thanks' },
  ],
  max_completion_tokens: 100,
  temperature: 1.5,
  top_p: 0.5,
  n: 1,
  stop: ['END'],
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  logit_bias: {},
  logprobs: true,
  top_logprobs: 1,
  seed: 7,
  user: 'ann',
  prompt_cache_key: 'key',
  metadata: { a: 'b' },
  store: false,
  service_tier: 'default',
  reasoning_effort: 'medium',
  verbosity: 'low',
  tools: [{ type: 'function', function: { name: 'weather' } }],
  tool_choice: 'required',
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
});

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

interface Outcome {
  readonly choice: JsonObject;
  readonly usage: unknown;
  readonly outputText: string;
  readonly dropped: readonly string[];
}

async function ask(host: Host, simulator: CompatibleSimulator, stream: boolean): Promise<Outcome> {
  const chat = { ...CHAT, stream };
  const request = openai.encodeRequest(chat, {
    baseUrl: simulator.baseUrl,
    apiKey: 'k',
    model: 'theirs',
    outputTokensMax: undefined,
    host,
  });
  const response = await fetch(request.url, { method: 'POST', headers: request.headers, body: request.body });
  if (response.status !== 200) throw readFault(await response.text(), response.status);
  const context = {
    modelId: 'ours',
    wantsUsage: true,
    chat,
    requestId: 'r',
    createdSeconds: 1,
    host,
  };
  const dropped = request.dropped ?? [];
  if (!stream) {
    const { body, usage, outputText } = openai.decodeReply(await response.text(), context);
    return { choice: (body['choices'] as JsonObject[])[0] ?? {}, usage, outputText, dropped };
  }
  const decoder = openai.decodeStream(context);
  const chunks = new SseParser().push(await response.bytes()).flatMap((event) => decoder.push(event));
  expect(decoder).toMatchObject({ isDone: true, isComplete: true });
  const choices = chunks.map((text) => (JSON.parse(text) as { choices: JsonObject[] }).choices[0] ?? {});
  expect(choices.filter(({ delta }) => delta === undefined)).toEqual([]);
  const message = Object.assign({}, ...choices.map(({ delta }) => delta)) as JsonObject;
  return { choice: { ...choices.at(-1), message }, usage: decoder.usage, outputText: decoder.outputText, dropped };
}

describe.each(Object.entries(HOSTS))('%s', (_, host) => {
  let simulator: CompatibleSimulator;
  beforeAll(() => void (simulator = startCompatibleSimulator(host)));
  afterAll(() => simulator.stop());

  test.each([false, true])('accepts every request, and its answer is understood (streamed: %p)', async (stream) => {
    simulator.finishWith('tool_calls');
    const { choice, usage, outputText, dropped } = await ask(host, simulator, stream);
    const call = { id: 'gSIMJiOkT', type: 'function', function: { name: 'weather', arguments: '{}' }, ...(stream ? { index: 0 } : {}) };
    expect(choice['message']).toMatchObject({ content: 'Hello', reasoning_content: 'Hm.' });
    expect((choice['message'] as JsonObject)['tool_calls']).toEqual([call]);
    expect(choice['finish_reason']).toBe('tool_calls');
    expect(usage).toEqual({ inputTokens: 6, cachedInputTokens: 4, cacheWriteTokens: 0, outputTokens: 5, reasoningTokens: 2 });
    expect(outputText).toBe('HelloHm.weather{}');
    const { drops = [], hasNoJsonWithTools, toolChoice } = host.request ?? {};
    const lost = [
      ...drops.filter((name) => CHAT[name] !== undefined),
      ...(toolChoice === 'unthinking' ? ['reasoning_effort'] : []),
      ...(toolChoice === 'auto' || toolChoice === 'unforced' ? ['tool_choice'] : []),
      ...(hasNoJsonWithTools === true ? ['response_format'] : []),
    ];
    expect(dropped.filter((name) => !name.includes('.'))).toEqual(lost);
  });

  test('gets the output limit under the name it knows', () => {
    const request = openai.encodeRequest(
      { model: 'm', messages: [] },
      { baseUrl: 'http://a', apiKey: undefined, model: 'theirs', outputTokensMax: 9, host },
    );
    expect(JSON.parse(request.body)).toMatchObject({ [host.request?.renames?.['max_tokens'] ?? 'max_tokens']: 9 });
  });

  test('gets every effort in a form it knows', () => {
    for (const [effort, fields] of Object.entries(host.request?.efforts ?? {})) {
      const chat = { model: 'm', messages: [], reasoning_effort: effort };
      const { body } = openai.encodeRequest(chat, {
        baseUrl: 'http://a',
        apiKey: undefined,
        model: 'theirs',
        outputTokensMax: undefined,
        host,
      });
      expect(JSON.parse(body)).toEqual({ model: 'theirs', messages: [], ...fields, ...host.request?.adds });
    }
  });

  test('maps its finish reasons to known ones, or fails', async () => {
    for (const [reason, finish] of Object.entries(host.reply?.finish ?? {})) {
      simulator.finishWith(reason);
      // The answer calls a tool.
      const expected = finish === 'stop' ? 'tool_calls' : finish;
      for (const stream of [false, true]) expect((await ask(host, simulator, stream)).choice['finish_reason']).toBe(expected);
    }
    for (const [reason, status] of Object.entries(host.reply?.faults ?? {})) {
      simulator.finishWith(reason);
      for (const stream of [false, true]) expect(await failureOf(ask(host, simulator, stream))).toMatchObject({ status, code: reason });
    }
  });

  test('refuses several choices only if its row says so', () => {
    const encode = (): unknown =>
      openai.encodeRequest(
        { model: 'm', messages: [], n: 2 },
        { baseUrl: 'http://a', apiKey: undefined, model: 'x', outputTokensMax: undefined, host },
      );
    if (host.request?.isSingleChoice === true) expect(encode).toThrow(ProviderFault);
    else expect(encode).not.toThrow();
  });

  test('lists each refused field once per model pattern', () => {
    for (const { pattern, drops } of host.models ?? []) {
      expect(pattern.flags).toBe('u');
      expect(new Set(drops).size).toBe(drops.length);
    }
  });

  test('is enabled by its key or its address', () => {
    const parts = Object.fromEntries(variablesOf(host).map((name) => [name, 'a1']));
    if (host.addressVariable !== undefined) delete parts[host.addressVariable];
    expect(addressOf(host, {})).toBeUndefined();
    expect(addressOf(host, { ...parts, [host.keyVariable]: '' })).toBeUndefined();
    expect(addressOf(host, { ...parts, [host.keyVariable]: 'k' })).toBe(host.baseUrl.replaceAll(/\{\w+\}/gu, 'a1'));
    if (host.addressVariable !== undefined) expect(addressOf(host, { [host.addressVariable]: 'http://gpu:1/v1/' })).toBe('http://gpu:1/v1');
  });
});

test('a host with an unset address variable has no address', () => {
  expect(addressOf(HOSTS['cloudflare'] as Host, { CLOUDFLARE_API_TOKEN: 'k' })).toBeUndefined();
});

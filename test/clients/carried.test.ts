import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { TestKey } from '../simulator/gate.ts';
import { MODELS, OTHER_MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';

const TOOLS = [
  {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];
const QUESTION = [{ role: 'user' as const, content: 'How is the weather?' }];

let service: TranslatedGate;
let key: TestKey;

beforeAll(async () => {
  service = await startTranslatedGate();
  key = await service.gate.makeKey();
}, 120_000);
afterAll(() => service.stop(), 30_000);

function clientOf(owner: TestKey): OpenAI {
  return new OpenAI({ baseURL: service.gate.baseUrl, apiKey: owner.secret, maxRetries: 0 });
}

type Messages = OpenAI.ChatCompletionMessageParam[];

/** Returns a conversation up to its tool results, as kept by a client that knows only the dialect. */
async function callTools(model: string, stream: boolean): Promise<Messages> {
  const request = { model, messages: QUESTION, tools: TOOLS, reasoning_effort: 'high' as const };
  const client = clientOf(key);
  const { choices } = stream
    ? await client.chat.completions.stream(request).finalChatCompletion()
    : await client.chat.completions.create(request);
  const calls = (choices[0]?.message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
  expect(choices[0]?.finish_reason).toBe('tool_calls');
  return [
    ...QUESTION,
    {
      role: 'assistant',
      content: choices[0]?.message.content ?? null,
      tool_calls: calls.map(({ id, function: called }) => ({
        id,
        type: 'function' as const,
        function: { name: called.name, arguments: called.arguments },
      })),
    },
    ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '21 degrees' })),
  ];
}

async function continueWith(model: string, messages: Messages, { owner = key, stream = false } = {}): Promise<unknown> {
  const request = { model, messages, tools: TOOLS, reasoning_effort: 'high' as const };
  const client = clientOf(owner);
  const { choices } = stream
    ? await client.chat.completions.stream(request).finalChatCompletion()
    : await client.chat.completions.create(request);
  return choices[0]?.finish_reason;
}

/** What each provider does in the first turn, and what it must get back in the second. */
const DIALECTS = {
  anthropic: {
    prepare: () => {
      service.anthropic.reset();
      service.anthropic.next({ type: 'answer', thinking: 'I need the weather.' });
    },
    returned: () => {
      expect(service.anthropic.requests.at(-1)?.refusal).toBeUndefined();
      return JSON.stringify(service.anthropic.requests.at(-1)?.body['messages']).includes('"signature"');
    },
  },
  gemini: {
    prepare: () => {
      service.gemini.reset();
      service.gemini.next({ type: 'calls', calls: [{ name: 'weather', args: { city: 'Bern' } }], hasIds: true });
    },
    returned: () => {
      const text = JSON.stringify(service.gemini.requests.at(-1)?.body['contents']);
      return text.includes('thoughtSignature') && !text.includes('skip_thought_signature_validator');
    },
  },
  bedrock: {
    prepare: () => {
      service.bedrock.behave('reasoning_then_tool');
    },
    returned: () => JSON.stringify(service.bedrock.requests.at(-1)?.body['messages']).includes('simulated-signature'),
  },
} as const;

describe.each(['anthropic', 'gemini', 'bedrock'] as const)('reasoning between tool calls at %s', (name) => {
  const { prepare, returned } = DIALECTS[name];
  const model = MODELS[name];

  test.each([false, true])('goes back to the provider although the client does not keep it (stream: %p)', async (stream) => {
    prepare();
    const messages = await callTools(model, stream);
    service.bedrock.behave('text');
    expect(await continueWith(model, messages, { stream })).toBe('stop');
    expect(returned()).toBe(true);
  });

  test.each([false, true])('goes back to the provider after a restart (stream: %p)', async (stream) => {
    prepare();
    const messages = await callTools(model, stream);
    service = await service.restart();
    service.bedrock.behave('text');
    expect(await continueWith(model, messages, { stream })).toBe('stop');
    expect(returned()).toBe(true);
  });

  test.each([false, true])('is not sent to another model, but still to its own (stream: %p)', async (stream) => {
    prepare();
    const messages = await callTools(model, stream);
    service.bedrock.behave('text');
    expect(await continueWith(OTHER_MODELS[name], messages, { stream })).toBe('stop');
    expect(returned()).toBe(false);
    expect(await continueWith(model, messages, { stream })).toBe('stop');
    expect(returned()).toBe(true);
  });

  test('is not sent for another account', async () => {
    prepare();
    const messages = await callTools(model, false);
    service.bedrock.behave('text');
    expect(await continueWith(model, messages, { owner: await service.gate.makeKey() })).toBe('stop');
    expect(returned()).toBe(false);
  });
});

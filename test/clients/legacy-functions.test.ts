import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';

/** Tests the old spelling of tools, which the official client still supports, at every translated dialect. */

const FUNCTIONS = [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }];
const QUESTION: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'How is the weather?' }];

let service: TranslatedGate;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  const { secret } = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: secret, maxRetries: 0 });
}, 120_000);
afterAll(() => service.stop(), 30_000);

const DIALECTS = {
  anthropic: {
    prepare: () => service.anthropic.next({ type: 'answer', thinking: 'Hm.', toolCalls: [{ name: 'weather', input: { city: 'Bern' } }] }),
    body: () => service.anthropic.requests.at(-1)?.body,
    signed: '"signature"',
  },
  gemini: {
    prepare: () =>
      service.gemini.next({
        type: 'calls',
        calls: [
          { name: 'weather', args: { city: 'Bern' } },
          { name: 'weather', args: { city: 'Rome' } },
        ],
      }),
    body: () => service.gemini.requests.at(-1)?.body,
    signed: 'c2lnbmF0dXJl',
  },
  bedrock: {
    prepare: () => service.bedrock.behave('reasoning_then_tool'),
    body: () => service.bedrock.requests.at(-1)?.body,
    signed: 'simulated-signature',
  },
} as const;

async function ask(
  request: OpenAI.ChatCompletionCreateParamsNonStreaming,
  isStreaming: boolean,
): Promise<OpenAI.ChatCompletion.Choice | undefined> {
  const { choices } = isStreaming
    ? await client.chat.completions.stream({ ...request, stream: true }).finalChatCompletion()
    : await client.chat.completions.create(request);
  return choices[0];
}

describe.each(['anthropic', 'gemini', 'bedrock'] as const)('functions at %s', (name) => {
  const { prepare, body, signed } = DIALECTS[name];
  const model = MODELS[name];

  test.each([false, true])('are called and answered in the old spelling (stream: %p)', async (isStreaming) => {
    service.reset();
    prepare();
    const request = { model, functions: FUNCTIONS, function_call: 'auto' as const, reasoning_effort: 'high' as const };
    const called = await ask({ ...request, messages: QUESTION }, isStreaming);
    expect(called?.finish_reason).toBe('function_call');
    expect(called?.message.tool_calls).toBeUndefined();
    const call = called?.message.function_call;
    expect(call?.name).toBe('weather');
    expect(Object.keys(JSON.parse(call?.arguments ?? '') as object)).toEqual(['city']);

    service.reset();
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...QUESTION,
      {
        role: 'assistant',
        content: called?.message.content ?? null,
        function_call: { name: call?.name ?? '', arguments: call?.arguments ?? '' },
      },
      { role: 'function', name: 'weather', content: '21 degrees' },
    ];
    const answered = await ask({ ...request, messages }, isStreaming);
    expect(answered?.finish_reason).toBe('stop');
    // The provider's signature comes back, although this spelling has no ids.
    expect(JSON.stringify(body())).toContain(signed);
  });

  test('can be required and forbidden', async () => {
    service.reset();
    const { response } = await client.chat.completions
      .create({ model, functions: FUNCTIONS, function_call: { name: 'weather' }, messages: QUESTION })
      .withResponse();
    expect(response.headers.get('x-tollgate-dropped')).toBeNull();
    const choice = await ask({ model, functions: FUNCTIONS, function_call: 'none', messages: QUESTION }, false);
    expect(choice?.finish_reason).toBe('stop');
  });
});

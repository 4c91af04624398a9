import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';
import { UsageRows } from '../simulator/usage-rows.ts';

/** Tests whole answers that may be so long that the provider returns them only as streams. */

let service: TranslatedGate;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  const { secret } = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: secret, maxRetries: 0 });
}, 120_000);
afterAll(() => service.stop(), 30_000);

const LONG = { model: 'mock/long-claude', max_completion_tokens: 60_000, messages: [{ role: 'user' as const, content: 'Tell me all.' }] };
const TOOLS = [{ type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }];

/** Returns the parts that two answers to the same question have in common. */
function comparable({ usage, ...rest }: OpenAI.ChatCompletion): unknown {
  return { ...rest, id: '', created: 0, usage: { ...usage, cost: 0 } };
}

describe('a whole answer that may be long', () => {
  test('is requested as a stream, and equals the same answer when it is short', async () => {
    service.reset();
    const behaviour = { type: 'answer', thinking: 'Hm, naïve ☕?', text: 'It is 漢字.', cache: { read: 5, written: 7 } } as const;
    service.anthropic.next(behaviour);
    const long = await client.chat.completions.create({ ...LONG, reasoning_effort: 'high' });
    expect(service.anthropic.requests.at(-1)?.body['stream']).toBe(true);
    service.anthropic.next(behaviour);
    const short = await client.chat.completions.create({ ...LONG, max_completion_tokens: 20_000, reasoning_effort: 'high' });
    expect(service.anthropic.requests.at(-1)?.body['stream']).toBeUndefined();
    expect(comparable(long)).toEqual(comparable(short));
    const rows = new UsageRows(service.gate.dataFolder);
    expect(rows.find(long._request_id ?? '')).toMatchObject({ outcome: 'completed', is_estimated: 0n, cache_write_tokens: 7n });
    rows.close();
  });

  test('can call tools, and the reasoning is kept for the next turn', async () => {
    service.reset();
    service.anthropic.next({ type: 'answer', thinking: 'I must look it up.', toolCalls: [{ name: 'look_up', input: {} }] });
    const { choices } = await client.chat.completions.create({ ...LONG, tools: TOOLS, reasoning_effort: 'high' });
    const [choice] = choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ function: { arguments: '{}' } }] },
    });
    const calls = choice?.message.tool_calls ?? [];
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...LONG.messages,
      { role: 'assistant', content: null, tool_calls: calls },
      ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'found' })),
    ];
    await client.chat.completions.create({ ...LONG, messages, tools: TOOLS, reasoning_effort: 'high' });
    expect(JSON.stringify(service.anthropic.requests.at(-1)?.body['messages'])).toContain('"signature"');
  });

  test('can have several choices', async () => {
    service.reset();
    const { choices, usage } = await client.chat.completions.create({ ...LONG, n: 3, max_completion_tokens: 30_000 });
    expect(choices.map(({ index, finish_reason: finish }) => [index, finish])).toEqual([0, 1, 2].map((index) => [index, 'stop']));
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  test.each([0, 3])('that fails after %p events is a server error, and costs nothing', async (events) => {
    service.reset();
    service.anthropic.next({ type: 'error_event', events, error: { type: 'overloaded_error', message: 'Overloaded' } });
    const failure: unknown = await client.chat.completions.create(LONG).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.InternalServerError);
    const rows = new UsageRows(service.gate.dataFolder);
    expect(rows.find((failure as InstanceType<typeof OpenAI.APIError>).requestID ?? '')).toMatchObject({ outcome: 'failed', cost: 0n });
    rows.close();
  });

  test('may arrive in one piece after all', async () => {
    service.reset();
    const content = [{ type: 'text', text: 'In one piece.' }];
    const body = JSON.stringify({
      type: 'message',
      id: 'm',
      model: 'c',
      role: 'assistant',
      content,
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 4 },
    });
    service.anthropic.next({ type: 'status', status: 200, error: {}, body });
    const { choices, usage } = await client.chat.completions.create(LONG);
    expect(choices[0]?.message.content).toBe('In one piece.');
    expect(usage?.total_tokens).toBe(7);
  });

  test('that is cut off fails', async () => {
    service.reset();
    service.anthropic.next({ type: 'cut', events: 4 });
    expect(await client.chat.completions.create(LONG).catch((error: unknown) => error)).toBeInstanceOf(OpenAI.InternalServerError);
  });
});

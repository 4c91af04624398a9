import { describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { ANSWER_TEXT } from '../simulator/behaviours.ts';
import { failureOf } from '../simulator/failure.ts';
import { withCost } from '../simulator/invoice.ts';
import type { Usage } from '../simulator/wire.ts';
import { CHAT, OpenAiStage } from './openai-stage.ts';

const TOOLS = ['weather', 'clock'].map((name) => ({
  type: 'function' as const,
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
  },
}));

const stage = new OpenAiStage({ timeouts: { idle_ms: 5000 } });

async function readChunks(body: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}): Promise<OpenAI.ChatCompletionChunk[]> {
  return Array.fromAsync(await stage.client.chat.completions.create({ ...CHAT, ...body, stream: true }));
}

describe('chat', () => {
  test('returns the completion with our model id, usage and a request id', async () => {
    const completion = await stage.client.chat.completions.create(CHAT);
    expect(completion).toMatchObject({ object: 'chat.completion', model: 'mock/gpt' });
    expect(completion.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop', logprobs: null });
    expect(completion.choices[0]?.message).toMatchObject({ role: 'assistant', content: ANSWER_TEXT, refusal: null });
    expect(completion.usage).toEqual(withCost(stage.simulator.requests[0]?.usage as Usage));
    expect(completion._request_id).toBeString();
  });

  test('passes choices, log probabilities and formats through unchanged', async () => {
    const options = {
      n: 2,
      logprobs: true,
      top_logprobs: 3,
      seed: 42,
      metadata: { team: 'red' },
      response_format: { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { type: 'object' } } },
    };
    const { choices } = await stage.client.chat.completions.create({ ...CHAT, ...options });
    expect(choices.map((choice) => choice.index)).toEqual([0, 1]);
    expect(choices[1]?.logprobs?.content?.[0]?.top_logprobs).toHaveLength(3);
    expect(stage.simulator.requests[0]?.body).toMatchObject(options);
  });

  test('carries a tool conversation in both directions', async () => {
    const asked = await stage.client.chat.completions.create({ ...CHAT, tools: TOOLS, tool_choice: 'required' });
    const message = asked.choices[0]?.message as OpenAI.ChatCompletionMessage;
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message.content).toBeNull();
    const results = (message.tool_calls ?? []).map((call) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: '21 degrees',
    }));
    expect(results).toHaveLength(2);
    const messages = [...CHAT.messages, message, ...results];
    const answered = await stage.client.chat.completions.create({ ...CHAT, messages, tools: TOOLS });
    expect(answered.choices[0]?.message.content).toBe(ANSWER_TEXT);
    expect(stage.simulator.requests[1]?.body['messages']).toMatchObject(messages);
  });
});

describe('stream', () => {
  test('sends role, text and finish in order, and no usage unless requested', async () => {
    const chunks = await readChunks();
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(ANSWER_TEXT);
    expect(chunks.map((chunk) => chunk.choices.length)).toEqual(chunks.map(() => 1));
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason !== null)).toEqual(chunks.slice(-1));
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([]);
    expect(stage.simulator.requests[0]?.body['stream_options']).toMatchObject({ include_usage: true });
  });

  test('has the same id, creation time and model id on every chunk', async () => {
    const chunks = await readChunks({ stream_options: { include_usage: true } });
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model}`)).size).toBe(1);
    expect(chunks[0]?.model).toBe('mock/gpt');
  });

  test('ends with one usage chunk without choices when requested', async () => {
    const chunks = await readChunks({ stream_options: { include_usage: true } });
    expect(chunks.slice(0, -1).map((chunk) => chunk.usage)).toEqual(chunks.slice(0, -1).map(() => null));
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-1)?.usage).toEqual(withCost(stage.simulator.requests[0]?.usage as Usage));
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('lets .stream() assemble complete tool calls', async () => {
    const stream = stage.client.chat.completions.stream({ ...CHAT, tools: TOOLS });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    const calls = choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual(['weather', 'clock']);
    for (const call of calls) {
      expect(call.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ city: 'Zürich ☂', days: 7 });
    }
  });

  test('lets .stream() return the text and the total usage', async () => {
    const stream = stage.client.chat.completions.stream({ ...CHAT, stream_options: { include_usage: true } });
    expect(await stream.finalContent()).toBe(ANSWER_TEXT);
    expect(await stream.totalUsage()).toMatchObject({ completion_tokens: ANSWER_TEXT.split(' ').length });
  });

  test.each([2, 3])('keeps %i choices separate', async (n) => {
    const choices = (await readChunks({ n })).flatMap((chunk) => chunk.choices);
    for (let index = 0; index < n; index += 1) {
      const own = choices.filter((choice) => choice.index === index);
      expect(own.map((choice) => choice.delta.content ?? '').join('')).toBe(ANSWER_TEXT);
    }
  });
});

describe('models', () => {
  test('lists the models that the key may call', async () => {
    const models = await Array.fromAsync(stage.client.models.list());
    const mock = models.find((model) => model.id === 'mock/gpt');
    expect(mock).toMatchObject({ object: 'model', owned_by: 'mock', created: 1_700_000_000 });
    expect(mock).toMatchObject({ name: 'Mock mock/gpt', context_length: 128_000, max_output_tokens: 16_384 });
    for (const extra of ['pricing', 'supported_parameters', 'architecture']) expect(mock).toHaveProperty(extra);
    const restricted = await stage.connect({ models: 'mock/free' });
    expect((await Array.fromAsync(restricted.models.list())).map((model) => model.id)).toEqual(['mock/free']);
  });

  test('finds a model whose id contains a slash', async () => {
    expect(await stage.client.models.retrieve('mock/gpt')).toMatchObject({ id: 'mock/gpt', owned_by: 'mock' });
    const failure = await failureOf(stage.client.models.retrieve('mock/unknown'));
    expect(failure).toBeInstanceOf(OpenAI.NotFoundError);
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

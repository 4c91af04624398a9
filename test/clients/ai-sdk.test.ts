import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { beforeAll, describe, expect, test } from 'bun:test';
import { ANSWER_TEXT } from '../simulator/behaviours.ts';
import { failureOf } from '../simulator/failure.ts';
import type { Usage } from '../simulator/wire.ts';
import { OpenAiStage } from './openai-stage.ts';

const stage = new OpenAiStage();
let provider: ReturnType<typeof createOpenAICompatible>;

beforeAll(() => {
  provider = createOpenAICompatible({ name: 'gate', baseURL: stage.gate.baseUrl, apiKey: stage.key.secret, includeUsage: true });
});

const weather = tool({
  description: 'Tells the weather of a city.',
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
  execute: ({ city }) => `21 degrees in ${city}`,
});

function reportedUsage(index = 0): Usage {
  return stage.simulator.requests[index]?.usage as Usage;
}

describe('generateText', () => {
  test('returns text, finish reason and usage', async () => {
    const result = await generateText({ model: provider('mock/gpt'), prompt: 'Hi' });
    expect(result.text).toBe(ANSWER_TEXT);
    expect(result.finishReason).toBe('stop');
    expect(result.usage).toMatchObject({
      inputTokens: reportedUsage().prompt_tokens,
      outputTokens: reportedUsage().completion_tokens,
      totalTokens: reportedUsage().total_tokens,
    });
    expect(result.response.modelId).toBe('mock/gpt');
  });

  test('runs a tool and answers with its result', async () => {
    const result = await generateText({
      model: provider('mock/gpt'),
      prompt: 'How is the weather?',
      tools: { weather },
      stopWhen: stepCountIs(3),
    });
    expect(result.steps).toHaveLength(2);
    expect(result.steps[0]?.toolResults[0]?.output).toBe('21 degrees in Zürich ☂');
    expect(result.text).toBe(ANSWER_TEXT);
  });
});

describe('streamText', () => {
  test('returns the text in parts, and the requested usage', async () => {
    const result = streamText({ model: provider('mock/gpt'), prompt: 'Hi' });
    const parts = await Array.fromAsync(result.textStream);
    expect(parts.length).toBeGreaterThan(5);
    expect(parts.join('')).toBe(ANSWER_TEXT);
    expect(await result.finishReason).toBe('stop');
    expect(await result.usage).toMatchObject({
      inputTokens: reportedUsage().prompt_tokens,
      outputTokens: reportedUsage().completion_tokens,
    });
  });

  test('assembles streamed tool calls and continues with the result', async () => {
    const result = streamText({
      model: provider('mock/gpt'),
      prompt: 'How is the weather?',
      tools: { weather },
      stopWhen: stepCountIs(3),
    });
    expect((await Array.fromAsync(result.textStream)).join('')).toBe(ANSWER_TEXT);
    const steps = await result.steps;
    expect(steps[0]?.toolCalls[0]).toMatchObject({ toolName: 'weather', input: { city: 'Zürich ☂' } });
    expect(steps[0]?.finishReason).toBe('tool-calls');
  });

  test('reports an error in the middle of the stream', async () => {
    stage.simulator.always({ type: 'error_event', chunks: 4 });
    const errors: unknown[] = [];
    const result = streamText({
      model: provider('mock/gpt'),
      prompt: 'Hi',
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    expect(errors).toHaveLength(1);
  });
});

describe('errors', () => {
  test.each([
    ['mock/unknown', 404, false],
    ['mock/gpt', 500, true],
  ] as const)('%s returns status %i', async (model, statusCode, isRetryable) => {
    stage.simulator.always({ type: 'status', status: 503, body: 'upstream connect error' });
    const failure = await failureOf(generateText({ model: provider(model), prompt: 'Hi', maxRetries: 0 }));
    expect(APICallError.isInstance(failure)).toBe(true);
    expect(failure).toMatchObject({ statusCode, isRetryable });
    expect((failure as APICallError).data).toHaveProperty('error.message', expect.any(String));
  });
});

import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { beforeAll, expect, test } from 'bun:test';
import { ANSWER_TEXT } from '../simulator/behaviours.ts';
import { failureOf } from '../simulator/failure.ts';
import type { Usage } from '../simulator/wire.ts';
import { OpenAiStage } from './openai-stage.ts';

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

const stage = new OpenAiStage();
let chat: ChatOpenAI;

beforeAll(() => {
  chat = new ChatOpenAI({
    model: 'mock/gpt',
    apiKey: stage.key.secret,
    configuration: { baseURL: stage.gate.baseUrl },
    maxRetries: 0,
  });
});

function expectedUsage(): object {
  const usage = stage.simulator.requests[0]?.usage as Usage;
  return {
    input_tokens: usage.prompt_tokens,
    output_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
  };
}

test('invoke returns the text and the usage', async () => {
  const message = await chat.invoke('Hi');
  expect(message.content).toBe(ANSWER_TEXT);
  expect(message.usage_metadata).toMatchObject(expectedUsage());
});

test('stream returns chunks that add up to the text and carry the usage once', async () => {
  const chunks = await Array.fromAsync(await chat.stream('Hi'));
  expect(chunks.length).toBeGreaterThan(5);
  expect(chunks.map((chunk) => chunk.text).join('')).toBe(ANSWER_TEXT);
  expect(chunks.filter((chunk) => chunk.usage_metadata !== undefined)).toHaveLength(1);
  expect(chunks.reduce((sum, chunk) => sum.concat(chunk)).usage_metadata).toMatchObject(expectedUsage());
});

test('tools are called and their results answered', async () => {
  const armed = chat.bindTools([WEATHER]);
  const asked = await armed.invoke('How is the weather?');
  expect(asked.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Zürich ☂' } }]);
  const result = new ToolMessage({ content: '21 degrees', tool_call_id: asked.tool_calls?.[0]?.id ?? '' });
  const answered = await armed.invoke([new HumanMessage('How is the weather?'), asked, result]);
  expect(answered.content).toBe(ANSWER_TEXT);
});

test('streamed tool calls are assembled', async () => {
  const chunks = await Array.fromAsync(await chat.bindTools([WEATHER]).stream('How is the weather?'));
  const whole = chunks.reduce((sum: AIMessageChunk, chunk) => sum.concat(chunk));
  expect(whole.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Zürich ☂' } }]);
});

test('a wrong key is an error with status 401, and an unknown model one with status 404', async () => {
  const lost = new ChatOpenAI({
    model: 'mock/unknown',
    apiKey: 'sk-tg-nobody',
    configuration: { baseURL: stage.gate.baseUrl },
    maxRetries: 0,
  });
  expect(await failureOf(lost.invoke('Hi'))).toMatchObject({ status: 401 });
  const { secret } = await stage.gate.makeKey();
  const known = new ChatOpenAI({
    model: 'mock/unknown',
    apiKey: secret,
    configuration: { baseURL: stage.gate.baseUrl },
    maxRetries: 0,
  });
  expect(await failureOf(known.invoke('Hi'))).toMatchObject({ status: 404 });
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { describeModel, startGate, type Gate } from '../simulator/gate.ts';
import { writePdf } from '../simulator/pdf.ts';

const MODEL = 'own/reader';
const CONTEXT_TOKENS = 200_000;
let usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }], usage }),
});
let gate: Gate;
let client: OpenAI;

beforeAll(async () => {
  gate = await startGate({
    simulator: { baseUrl: `http://127.0.0.1:${provider.port}`, apiKey: 'key' },
    models: [{ ...describeModel(MODEL, 'mock', { input: 2.5, output: 10 }), context_length: CONTEXT_TOKENS }],
  });
}, 120_000);
beforeEach(async () => {
  // A full context costs 0.50.
  const { secret } = await gate.makeKey({ creditUsd: '0.7' });
  client = new OpenAI({ baseURL: gate.baseUrl, apiKey: secret, maxRetries: 0 });
});
afterAll(async () => {
  await gate.stop();
  await provider.stop(true);
}, 30_000);

function ask(content: OpenAI.ChatCompletionUserMessageParam['content']): Promise<OpenAI.ChatCompletion> {
  return client.chat.completions.create({ model: MODEL, max_tokens: 10, messages: [{ role: 'user', content }] });
}

function askPdf(): Promise<OpenAI.ChatCompletion> {
  const file_data = `data:application/pdf;base64,${writePdf(1).toString('base64')}`;
  return ask([{ type: 'file', file: { filename: 'a.pdf', file_data } }]);
}

test('a text to which the provider adds a long prompt leaves what files hold as it is', async () => {
  usage = { prompt_tokens: 120_000, completion_tokens: 1, total_tokens: 120_001 };
  await ask('Hi');
  usage = { prompt_tokens: 1000, completion_tokens: 1, total_tokens: 1001 };
  // About 0.40 is left.
  expect((await askPdf()).choices[0]?.message.content).toBe('Hi');
});

test('a file that had more tokens than its pages suggest makes the next one hold a full context', async () => {
  usage = { prompt_tokens: 1000, completion_tokens: 1, total_tokens: 1001 };
  await askPdf();
  usage = { prompt_tokens: 120_000, completion_tokens: 1, total_tokens: 120_001 };
  await askPdf();
  // About 0.40 is left: enough for what a page may cost, not for a full context.
  const failure: unknown = await askPdf().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OpenAI.PermissionDeniedError);
  expect(failure).toMatchObject({ code: 'insufficient_quota', message: expect.stringContaining('needs at least $0.5') });
  usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
  expect((await ask('Hi')).choices[0]?.message.content).toBe('Hi');
});

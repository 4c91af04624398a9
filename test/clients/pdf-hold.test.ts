import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { writePdf } from '../simulator/pdf.ts';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';

let service: TranslatedGate;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  // Enough for about 64,000 input tokens.
  const { secret } = await service.gate.makeKey({ creditUsd: '0.2' });
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: secret, maxRetries: 0 });
}, 120_000);
afterAll(() => service.stop(), 30_000);

function ask(pages: number): Promise<OpenAI.ChatCompletion> {
  const file_data = `data:application/pdf;base64,${writePdf(pages, { isPacked: true }).toString('base64')}`;
  const content = [
    { type: 'text' as const, text: 'Sum up.' },
    { type: 'file' as const, file: { filename: 'a.pdf', file_data } },
  ];
  return client.chat.completions.create({ model: MODELS.anthropic, max_tokens: 10, messages: [{ role: 'user', content }] });
}

test('the hold for a PDF of many tiny pages depends on its pages, not on its bytes', async () => {
  expect((await ask(5)).choices[0]?.finish_reason).toBeString();
  const failure: unknown = await ask(300).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OpenAI.PermissionDeniedError);
  expect(failure).toMatchObject({ code: 'insufficient_quota' });
});

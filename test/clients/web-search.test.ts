import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { MODELS, SEARCHING_MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';

let service: TranslatedGate;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  const { secret } = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: secret, maxRetries: 0 });
}, 120_000);
afterAll(() => service.stop(), 30_000);

const QUESTION = { messages: [{ role: 'user' as const, content: 'What is new?' }], web_search_options: {} };

describe('web_search_options', () => {
  test.each<[string]>([...Object.values(MODELS), SEARCHING_MODELS.bedrock].map((model) => [model]))(
    'are refused for %s, with advice',
    async (model) => {
      const failure: unknown = await client.chat.completions.create({ model, ...QUESTION }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
      expect(failure).toMatchObject({ status: 400, param: 'web_search_options', type: 'invalid_request_error' });
      expect((failure as Error).message).toContain('supported_parameters');
    },
  );

  test('are sent where the price of the model includes searches, and its list says so', async () => {
    service.reset();
    for (const name of ['anthropic', 'gemini', 'relayed'] as const) {
      const { choices } = await client.chat.completions.create({ model: SEARCHING_MODELS[name], ...QUESTION });
      expect(choices[0]?.finish_reason).toBe('stop');
      const model: object = await client.models.retrieve(SEARCHING_MODELS[name]);
      expect(model).toMatchObject({ supported_parameters: expect.arrayContaining(['web_search_options']) as unknown });
    }
    expect(service.anthropic.requests.at(-1)?.body['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search' }]);
    expect(service.gemini.requests.at(-1)?.body['tools']).toEqual([{ googleSearch: {} }]);
    expect(service.openai.requests.at(-1)?.body['web_search_options']).toEqual({});
  });

  test('are dropped, and reported as such, where the model searches anyway', async () => {
    service.reset();
    const { response } = await client.chat.completions.create({ model: 'mock/sonar', ...QUESTION }).withResponse();
    expect(response.headers.get('x-tollgate-dropped')).toBe('web_search_options');
  });
});

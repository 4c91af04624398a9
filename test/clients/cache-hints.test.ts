import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { TestKey } from '../simulator/gate.ts';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';
import { UsageRows } from '../simulator/usage-rows.ts';

/** Tests cache hints: they are passed on where the provider supports them at a known price, and reported as dropped otherwise. */

let service: TranslatedGate;
let key: TestKey;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  key = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: key.secret, maxRetries: 0 });
}, 120_000);
afterAll(() => service.stop(), 30_000);

const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const messages = [{ role: 'user', content: [{ type: 'text', text: 'A long story.', ...HOUR }] }] as OpenAI.ChatCompletionMessageParam[];
const KEY = { prompt_cache_key: 'thread-1', prompt_cache_retention: '24h' as const };

describe('prompt cache hints', () => {
  test.each<[keyof typeof MODELS, string]>([
    ['anthropic', 'prompt_cache_key, prompt_cache_retention, messages[].content[].cache_control.ttl'],
    ['bedrock', 'prompt_cache_key, prompt_cache_retention, messages[].content[].cache_control.ttl'],
    ['gemini', 'messages[].content[].cache_control, prompt_cache_key, prompt_cache_retention'],
    ['single', 'prompt_cache_key, prompt_cache_retention, messages[].content[].cache_control'],
  ])('at %s are reported where they are dropped', async (name, dropped) => {
    service.reset();
    const { data, response } = await client.chat.completions.create({ model: MODELS[name], messages, ...KEY }).withResponse();
    expect(response.headers.get('x-tollgate-dropped')).toBe(dropped);
    expect(data.choices[0]?.finish_reason).toBe('stop');
  });

  test('reach Claude and Bedrock as five-minute markers, and cache writes are charged at their price', async () => {
    service.reset();
    service.anthropic.next({ type: 'answer', text: 'Hi.', cache: { read: 0, written: 1000 } });
    const data = await client.chat.completions.create({ model: MODELS.anthropic, messages, max_tokens: 100 });
    expect(JSON.stringify(service.anthropic.requests.at(-1)?.body['messages'])).toContain('"cache_control":{"type":"ephemeral"}');
    expect(data.usage?.prompt_tokens_details?.cache_write_tokens).toBe(1000);
    const rows = new UsageRows(service.gate.dataFolder);
    const row = rows.find(data._request_id ?? '');
    rows.close();
    const { input_tokens: input = 0n, output_tokens: output = 0n } = row ?? {};
    expect(row?.cost).toBe(input * 2500n + 1000n * 3125n + output * 10_000n);
    await client.chat.completions.create({ model: MODELS.bedrock, messages });
    expect(JSON.stringify(service.bedrock.requests.at(-1)?.body)).toContain('{"cachePoint":{"type":"default"}}');
  });
});

describe('an unknown field', () => {
  test.each<keyof typeof MODELS>(['anthropic', 'bedrock', 'gemini'])(
    'is reported as dropped even if no header can hold its name: %s',
    async (name) => {
      service.reset();
      for (const stream of [false, true]) {
        const body = { model: MODELS[name], messages: [{ role: 'user', content: 'Hi' }], stream, 'snow☃\n': 1 };
        const response = await fetch(`${service.gate.baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect(response.status).toBe(200);
        expect(response.headers.get('x-tollgate-dropped')).toBe('snow??');
        expect(await response.text()).toContain('choices');
      }
      await service.gate.settledBalance(key);
    },
  );
});

import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { encode, NOVA, SONNET_45, SONNET_55 } from './encoding.ts';

interface Loss {
  readonly model: string;
  readonly dropped: readonly string[];
}

const PNG = 'data:image/png;base64,iVBORw0KGgo=';

describe('parameters', () => {
  test.each<[string, Partial<ChatRequest>, Partial<JsonObject>, Loss]>([
    ['a limit', { max_completion_tokens: 5 }, { inferenceConfig: { maxTokens: 5 } }, { model: NOVA, dropped: [] }],
    ['a limit under its old name', { max_tokens: 5 }, { inferenceConfig: { maxTokens: 5 } }, { model: NOVA, dropped: [] }],
    [
      'a temperature above the maximum',
      { temperature: 1.5, top_p: 0.5 },
      { inferenceConfig: { temperature: 1, topP: 0.5 } },
      { model: NOVA, dropped: [] },
    ],
    ['a temperature of zero', { temperature: 0 }, { inferenceConfig: { temperature: 0 } }, { model: NOVA, dropped: [] }],
    [
      'both sampling parameters where one is supported',
      { temperature: 0.5, top_p: 0.5 },
      { inferenceConfig: { temperature: 0.5 } },
      { model: SONNET_45, dropped: ['top_p'] },
    ],
    [
      'a default temperature with top_p',
      { temperature: 1, top_p: 0.5 },
      { inferenceConfig: { topP: 0.5 } },
      { model: SONNET_45, dropped: [] },
    ],
    ['only top_p where one is supported', { top_p: 0.5 }, { inferenceConfig: { topP: 0.5 } }, { model: SONNET_45, dropped: [] }],
    [
      'both sampling parameters where none is supported',
      { temperature: 0.5, top_p: 0.5 },
      {},
      { model: SONNET_55, dropped: ['temperature', 'top_p'] },
    ],
    ['a stop sequence', { stop: 'END' }, { inferenceConfig: { stopSequences: ['END'] } }, { model: NOVA, dropped: [] }],
    [
      'stop sequences without the blank ones',
      { stop: ['END', '\n'] },
      { inferenceConfig: { stopSequences: ['END'] } },
      { model: NOVA, dropped: ['stop'] },
    ],
    ['a blank stop sequence', { stop: '\n' }, {}, { model: NOVA, dropped: ['stop'] }],
    ['a stop sequence the model does not support', { stop: 'END' }, {}, { model: 'openai.gpt-oss-120b-1:0', dropped: ['stop'] }],
    [
      'what a model that always reasons does not support',
      { temperature: 1, top_p: 0.5, stop: 'END' },
      {},
      { model: 'us.xai.grok-4.6', dropped: ['temperature', 'top_p', 'stop'] },
    ],
    ['a service tier', { service_tier: 'flex' }, { serviceTier: { type: 'flex' } }, { model: NOVA, dropped: [] }],
    ['a service tier that costs more', { service_tier: 'priority' }, {}, { model: NOVA, dropped: ['service_tier'] }],
    ['a service tier the model does not have', { service_tier: 'flex' }, {}, { model: SONNET_45, dropped: ['service_tier'] }],
    ['a tier that GPT does not have', { service_tier: 'flex' }, {}, { model: 'us.openai.gpt-5.6-sol', dropped: ['service_tier'] }],
    ['the usual service tier', { service_tier: 'default' }, {}, { model: SONNET_45, dropped: [] }],
    ['the default service tier', { service_tier: 'auto' }, {}, { model: NOVA, dropped: [] }],
    ['text as the only modality', { modalities: ['text'], n: 1 }, {}, { model: NOVA, dropped: [] }],
    [
      'a lost speaker name and audio answer',
      {
        messages: [
          { role: 'user', name: 'ann', content: 'Hi' },
          { role: 'assistant', audio: { id: 'audio_1' } },
        ],
      },
      {},
      { model: NOVA, dropped: ['messages[].name', 'messages[].audio'] },
    ],
    [
      'a lost image detail',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG, detail: 'low' } }] }] },
      {},
      { model: NOVA, dropped: ['messages[].content[].image_url.detail'] },
    ],
    [
      'the default image detail',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG, detail: 'auto' } }] }] },
      {},
      { model: NOVA, dropped: [] },
    ],
    [
      'unsupported fields',
      { seed: 1, logit_bias: {}, user: 'u', top_k: 5 },
      {},
      { model: NOVA, dropped: ['seed', 'logit_bias', 'user', 'top_k'] },
    ],
  ])('%s', (_, chat, expected, { model, dropped }) => {
    const encoded = encode(chat, { model });
    const { messages: __, ...rest } = encoded.body;
    expect(rest).toEqual(expected as JsonObject);
    expect(encoded.dropped).toEqual(dropped);
  });

  test('the gateway’s limit applies if the caller set none', () => {
    expect(encode({}, { outputTokensMax: 9 }).body['inferenceConfig']).toEqual({ maxTokens: 9 });
    expect(encode({ max_tokens: 5 }, { outputTokensMax: 9 }).body['inferenceConfig']).toEqual({ maxTokens: 5 });
  });
});

describe('the response format', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, description: 'In years' },
      tags: { type: 'array', items: { type: 'string', maxLength: 9 } },
      kind: { oneOf: [{ type: 'string' }, { $ref: '#/$defs/kind' }] },
    },
    $defs: { kind: { type: 'object', properties: { name: { type: 'string' } } } },
    required: ['age'],
  };
  const format = { type: 'json_schema', json_schema: { name: 'person', description: 'A person', schema } };

  test('is enforced if the model supports it, within its grammar', () => {
    const { body, dropped } = encode({ response_format: format }, { model: SONNET_45 });
    const text = (body['outputConfig'] as { textFormat: { structure: { jsonSchema: { schema: string } } } }).textFormat.structure
      .jsonSchema;
    expect(text).toMatchObject({ name: 'person', description: 'A person' });
    expect(JSON.parse(text.schema)).toEqual({
      type: 'object',
      properties: {
        age: { type: 'integer', description: 'In years (minimum: 0)' },
        tags: { type: 'array', items: { type: 'string', description: '(maxLength: 9)' } },
        kind: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/kind' }] },
      },
      $defs: { kind: { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false } },
      required: ['age'],
      additionalProperties: false,
    });
    expect(dropped).toEqual([]);
  });

  test('is described in the prompt and reported if it cannot be enforced', () => {
    const { body, dropped } = encode({ response_format: format });
    expect(body['system']).toEqual([{ text: expect.stringContaining('"minimum":0') }] as unknown[]);
    expect(dropped).toEqual(['response_format.json_schema']);
  });

  test.each<[string, JsonObject]>([
    ['has open objects, which would come back empty', { type: 'object', additionalProperties: { type: 'string' } }],
    ['has objects of arbitrary fields', { type: 'object', properties: { metadata: { type: 'object' } }, required: ['metadata'] }],
    ['is recursive', { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } }],
  ])('is described in the prompt if the schema %s', (_, given) => {
    const encoded = encode({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: given } } }, { model: SONNET_45 });
    expect(encoded.body['system']).toEqual([{ text: expect.stringContaining(JSON.stringify(given)) }] as unknown[]);
    expect(encoded.body).not.toHaveProperty('outputConfig');
    expect(encoded.dropped).toEqual(['response_format.json_schema']);
  });

  test('without a schema is described in the prompt', () => {
    const { body, dropped } = encode({ response_format: { type: 'json_object' } }, { model: SONNET_45 });
    expect(body['system']).toEqual([{ text: expect.stringContaining('one JSON object') }] as unknown[]);
    expect(dropped).toEqual([]);
  });

  test('of plain text adds nothing', () => {
    expect(encode({ response_format: { type: 'text' } }).body).not.toHaveProperty('system');
  });
});

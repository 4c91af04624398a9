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
    ['a limit by its old name', { max_tokens: 5 }, { inferenceConfig: { maxTokens: 5 } }, { model: NOVA, dropped: [] }],
    [
      'a temperature above what is taken',
      { temperature: 1.5, top_p: 0.5 },
      { inferenceConfig: { temperature: 1, topP: 0.5 } },
      { model: NOVA, dropped: [] },
    ],
    ['a temperature of zero', { temperature: 0 }, { inferenceConfig: { temperature: 0 } }, { model: NOVA, dropped: [] }],
    [
      'two where one is taken',
      { temperature: 0.5, top_p: 0.5 },
      { inferenceConfig: { temperature: 0.5 } },
      { model: SONNET_45, dropped: ['top_p'] },
    ],
    [
      'a temperature that says nothing beside the other',
      { temperature: 1, top_p: 0.5 },
      { inferenceConfig: { topP: 0.5 } },
      { model: SONNET_45, dropped: [] },
    ],
    ['the other one where one is taken', { top_p: 0.5 }, { inferenceConfig: { topP: 0.5 } }, { model: SONNET_45, dropped: [] }],
    ['two where none is taken', { temperature: 0.5, top_p: 0.5 }, {}, { model: SONNET_55, dropped: ['temperature', 'top_p'] }],
    ['a stop', { stop: 'END' }, { inferenceConfig: { stopSequences: ['END'] } }, { model: NOVA, dropped: [] }],
    [
      'stops, without the blank ones',
      { stop: ['END', '\n'] },
      { inferenceConfig: { stopSequences: ['END'] } },
      { model: NOVA, dropped: ['stop'] },
    ],
    ['a stop of blanks', { stop: '\n' }, {}, { model: NOVA, dropped: ['stop'] }],
    ['a stop that the model does not know', { stop: 'END' }, {}, { model: 'openai.gpt-oss-120b-1:0', dropped: ['stop'] }],
    ['a tier', { service_tier: 'flex' }, { serviceTier: { type: 'flex' } }, { model: NOVA, dropped: [] }],
    ['a tier that costs more', { service_tier: 'priority' }, {}, { model: NOVA, dropped: ['service_tier'] }],
    ['a tier that is the usual one', { service_tier: 'auto' }, {}, { model: NOVA, dropped: [] }],
    ['text as the only kind of answer', { modalities: ['text'], n: 1 }, {}, { model: NOVA, dropped: [] }],
    [
      'a name of a speaker, and an answer that was heard',
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
      'how closely to look',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG, detail: 'low' } }] }] },
      {},
      { model: NOVA, dropped: ['messages[].content[].image_url.detail'] },
    ],
    [
      'how closely to look, as usual',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG, detail: 'auto' } }] }] },
      {},
      { model: NOVA, dropped: [] },
    ],
    [
      'what has no place',
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

  test('a limit of the gate is set where the caller set none', () => {
    expect(encode({}, { outputTokensMax: 9 }).body['inferenceConfig']).toEqual({ maxTokens: 9 });
    expect(encode({ max_tokens: 5 }, { outputTokensMax: 9 }).body['inferenceConfig']).toEqual({ maxTokens: 5 });
  });
});

describe('the format of an answer', () => {
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

  test('is enforced where the model can, within what its grammar knows', () => {
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

  test('is told in words where it cannot be enforced, and the caller is told', () => {
    const { body, dropped } = encode({ response_format: format });
    expect(body['system']).toEqual([{ text: expect.stringContaining('"minimum":0') }] as unknown[]);
    expect(dropped).toEqual(['response_format.json_schema']);
  });

  test.each<[string, JsonObject]>([
    ['has open objects, which would come back empty', { type: 'object', additionalProperties: { type: 'string' } }],
    ['has objects of any fields', { type: 'object', properties: { metadata: { type: 'object' } }, required: ['metadata'] }],
    ['leads back to itself', { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } }],
  ])('is told in words where the schema %s', (_, given) => {
    const encoded = encode({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: given } } }, { model: SONNET_45 });
    expect(encoded.body['system']).toEqual([{ text: expect.stringContaining(JSON.stringify(given)) }] as unknown[]);
    expect(encoded.body).not.toHaveProperty('outputConfig');
    expect(encoded.dropped).toEqual(['response_format.json_schema']);
  });

  test('without a schema is told in words', () => {
    const { body, dropped } = encode({ response_format: { type: 'json_object' } }, { model: SONNET_45 });
    expect(body['system']).toEqual([{ text: expect.stringContaining('one JSON object') }] as unknown[]);
    expect(dropped).toEqual([]);
  });

  test('of plain text is none', () => {
    expect(encode({ response_format: { type: 'text' } }).body).not.toHaveProperty('system');
  });
});

import { legacyCallId } from '../../../src/providers/call-ids.ts';
import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { faultOf } from '../fault-of.ts';
import { encode } from './given.ts';

type Messages = ChatRequest['messages'];

const PNG = 'data:image/png;base64,iVBORw0K';
const INLINE_PNG = { inlineData: { mimeType: 'image/png', data: 'iVBORw0K' } };
const SKIPPED = 'skip_thought_signature_validator';
const call = (id: string, name: string, args = '{}', more: object = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
});
const result = (id: string, content: unknown): JsonObject => ({ role: 'tool', tool_call_id: id, content });
const user = (...parts: JsonObject[]): JsonObject => ({ role: 'user', parts });
const model = (...parts: JsonObject[]): JsonObject => ({ role: 'model', parts });
const exchange = (name: string): Messages => [{ role: 'assistant', tool_calls: [call('0', name)] }, result('0', name)];
const extra = (signature: unknown): JsonObject => ({ extra_content: { google: { thought_signature: signature } } });

describe('a conversation', () => {
  test.each<[string, Messages, JsonObject, target?: { model: string }]>([
    [
      'with instructions first',
      [
        { role: 'system', content: 'A' },
        { role: 'developer', content: [{ type: 'text', text: 'B' }] },
        { role: 'system', content: '' },
        { role: 'user', content: 'Hi' },
      ],
      { systemInstruction: { parts: [{ text: 'A' }, { text: 'B' }] }, contents: [user({ text: 'Hi' })] },
    ],
    [
      'with instructions mid-conversation',
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief' },
        { role: 'assistant', content: 'Hello' },
      ],
      { contents: [user({ text: 'Hi' }, { text: 'Be brief' }), model({ text: 'Hello' })] },
    ],
    [
      'with instructions for a model that does not support them',
      [
        { role: 'system', content: 'A' },
        { role: 'user', content: 'Hi' },
      ],
      { contents: [user({ text: 'A' }, { text: 'Hi' })] },
      { model: 'gemma-3-27b-it' },
    ],
    ['of only instructions', [{ role: 'system', content: 'A' }], { contents: [user({ text: 'A' })] }],
    [
      'with adjacent messages of one role and empty messages',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'assistant', content: [{ type: 'text', text: 'c' }], reasoning_content: 'hm' },
      ],
      { contents: [user({ text: 'a' }, { text: 'b' }), model({ text: 'No.' }, { text: 'c' })] },
    ],
  ])('%s', (_, messages, body, target = { model: 'gemini-3.1-pro-preview' }) => {
    expect(encode({ messages }, target).body).toEqual(body);
  });

  test('of empty messages is refused', () => {
    expect(faultOf(() => encode({ messages: [{ role: 'user', content: '' }] }))).toMatchObject({ status: 400, param: 'messages' });
  });
});

describe('a content part', () => {
  test.each<[string, part: JsonObject, encoded: JsonObject]>([
    ['an image', { type: 'image_url', image_url: { url: PNG, detail: 'low' } }, INLINE_PNG],
    ['an image as a bare string', { type: 'image_url', image_url: PNG }, INLINE_PNG],
    [
      'an image with a misspelled type',
      { type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/' } },
      { inlineData: { mimeType: 'image/jpeg', data: '/9j/' } },
    ],
    [
      'audio',
      { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
    ],
    [
      'a file',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
    ],
    [
      'a video',
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
      { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } },
    ],
    [
      'a YouTube video',
      { type: 'video_url', video_url: { url: 'https://www.youtube.com/watch?v=1' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } },
    ],
  ])('is %s', (_, part, encoded) => {
    const { body } = encode({ messages: [{ role: 'user', content: [part] }] });
    expect(body['contents']).toEqual([user(encoded)]);
  });

  test.each<[string, part: JsonObject]>([
    ['a file in the operator’s store', { type: 'image_url', image_url: { url: 'gs://bucket/a.png' } }],
    [
      'a file in the operator’s account',
      { type: 'video_url', video_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/a' } },
    ],
    ['a URL that was not fetched', { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
    ['a URL that only looks like YouTube', { type: 'video_url', video_url: { url: 'https://www.youtube.com.example.com/watch?v=1' } }],
    ['a file id', { type: 'file', file: { file_id: 'file-1' } }],
    ['of an unknown type', { type: 'hologram', hologram: { depth: 3 } }],
  ])('is refused if it is %s', (_, part) => {
    const fault = faultOf(() => encode({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, part] }] }));
    expect(fault).toMatchObject({ status: 400, code: 'unsupported_value', param: 'messages[0].content[1]' });
  });
});

describe('tool calls and their results', () => {
  const ask = { role: 'user', content: 'Weather?' };
  const asked = user({ text: 'Weather?' });
  const pair: Messages = [
    ask,
    { role: 'assistant', content: 'Let me see', tool_calls: [call('c1', 'weather', '{"city":"Rome"}'), call('c2', 'weather', '')] },
    result('c2', 'rain'),
    result('c1', '{"sky":"blue","id":12345678901234567890}'),
    { role: 'user', content: 'And?' },
  ];

  test('are matched by id, with the function name and the unparsed text', () => {
    expect(encode({ messages: pair }).body['contents']).toEqual([
      asked,
      model(
        { text: 'Let me see' },
        { functionCall: { id: 'c1', name: 'weather', args: { city: 'Rome' } }, thoughtSignature: SKIPPED },
        { functionCall: { id: 'c2', name: 'weather', args: {} } },
      ),
      user(
        { functionResponse: { id: 'c1', name: 'weather', response: { output: '{"sky":"blue","id":12345678901234567890}' } } },
        { functionResponse: { id: 'c2', name: 'weather', response: { output: 'rain' } } },
      ),
      user({ text: 'And?' }),
    ]);
  });

  test.each([
    ['gemini-2.5-pro', false, {}],
    ['gemini-3.1-pro-preview', true, { thoughtSignature: SKIPPED }],
  ])('of %s (Vertex: %p) are matched by order', (name, isVertex, signature) => {
    expect(encode({ messages: pair }, { model: name, isVertex }).body['contents']).toMatchObject([
      asked,
      model(
        { text: 'Let me see' },
        { functionCall: { name: 'weather', args: { city: 'Rome' } }, ...signature },
        { functionCall: { name: 'weather', args: {} } },
      ),
      user(
        { functionResponse: { response: { output: '{"sky":"blue","id":12345678901234567890}' } } },
        { functionResponse: { response: { output: 'rain' } } },
      ),
      user({ text: 'And?' }),
    ]);
    expect(JSON.stringify(encode({ messages: pair }, { model: name, isVertex }).body)).not.toContain('"id":"');
  });

  test('keep their names apart if a client restarts its ids in every turn', () => {
    const { body } = encode({ messages: [ask, ...exchange('first'), ...exchange('second')] }, { model: 'gemini-2.5-pro' });
    expect(body['contents']).toEqual([
      asked,
      model({ functionCall: { name: 'first', args: {} } }),
      user({ functionResponse: { name: 'first', response: { output: 'first' } } }),
      model({ functionCall: { name: 'second', args: {} } }),
      user({ functionResponse: { name: 'second', response: { output: 'second' } } }),
    ]);
  });

  test('keep their names apart if a model gives two calls the same id', () => {
    const messages = [
      ask,
      { role: 'assistant', tool_calls: [call('x', 'first', ''), call('x', 'second', '')] },
      result('x', 'a'),
      result('x', 'b'),
    ];
    expect(encode({ messages }, { model: 'gemini-2.5-pro' }).body['contents']).toMatchObject([
      asked,
      model({ functionCall: { name: 'first' } }, { functionCall: { name: 'second' } }),
      user(
        { functionResponse: { name: 'first', response: { output: 'a' } } },
        { functionResponse: { name: 'second', response: { output: 'b' } } },
      ),
    ]);
  });

  const KEPT = '{"model":"gemini-3.6-flash","thoughtSignature":"sig-b"}';

  test.each<[string, more: object, carried: Record<string, string>, signature: string | undefined, model?: string]>([
    ['from the caller', extra('sig-a'), { c1: KEPT }, 'sig-a'],
    ['from the store', {}, { c1: KEPT }, 'sig-b'],
    ['from the store if the caller’s is empty', extra(''), { c1: KEPT }, 'sig-b'],
    ['that is lost', { extra_content: null }, { c9: KEPT }, SKIPPED],
    ['of another provider', { extra_content: { google: 1 } }, { c1: '{"thinking":"…"}' }, SKIPPED],
    ['of another model', {}, { c1: '{"model":"gemini-3.1-pro","thoughtSignature":"sig-b"}' }, SKIPPED],
    [
      'of another model, even if the caller sends it',
      extra('sig-b'),
      { c1: '{"model":"gemini-3.1-pro","thoughtSignature":"sig-b"}' },
      SKIPPED,
    ],
    ['of the same model at Vertex', {}, { c1: '{"model":"vertex/gemini-3.6-flash","thoughtSignature":"sig-b"}' }, SKIPPED],
    ['that is not an object', {}, { c1: '"sig"' }, SKIPPED],
    ['that is not JSON', {}, { c1: 'sig' }, SKIPPED],
    ['for a model that needs none', {}, {}, undefined, 'gemini-2.5-pro'],
    ['for a model that accepts one without needing it', extra('sig-a'), {}, 'sig-a', 'gemini-2.5-pro'],
  ])('have a signature %s', (...[, more, carried, signature, name = 'gemini-3.6-flash']) => {
    const messages = [ask, { role: 'assistant', tool_calls: [call('c1', 'f', '{}', more)] }, result('c1', 'ok')];
    const { body } = encode({ messages }, { model: name, carried: new Map(Object.entries(carried)) });
    const [, turn] = body['contents'] as { parts: JsonObject[] }[];
    expect(turn?.parts[0]?.['thoughtSignature']).toBe(signature);
  });

  test('may hold images, inside for new models and after for old ones', () => {
    const content = [
      { type: 'text', text: 'Here' },
      { type: 'image_url', image_url: { url: PNG } },
    ];
    const messages = [ask, { role: 'assistant', tool_calls: [call('c1', 'f')] }, result('c1', content)];
    expect(encode({ messages }).body['contents']).toMatchObject([
      asked,
      {},
      user({ functionResponse: { id: 'c1', name: 'f', response: { output: 'Here' }, parts: [INLINE_PNG] } }),
    ]);
    expect(encode({ messages }, { model: 'gemini-2.5-pro' }).body['contents']).toMatchObject([
      asked,
      {},
      user({ functionResponse: { name: 'f', response: { output: 'Here' } } }, INLINE_PNG),
    ]);
  });

  test('of a custom tool have its text as their only argument', () => {
    const custom = { id: 'c1', type: 'custom', custom: { name: 'patch', input: '*** Begin' } };
    const { body } = encode({ messages: [ask, { role: 'assistant', tool_calls: [custom] }, result('c1', 'ok')] });
    expect(body['contents']).toMatchObject([asked, model({ functionCall: { name: 'patch', args: { input: '*** Begin' } } }), {}]);
  });

  test('in the legacy format get a derived id', () => {
    const messages = [
      ask,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'ok' },
      { role: 'function', name: 'stray', content: 'late' },
    ];
    const id = legacyCallId({ name: 'f', arguments: '{"a":1}' });
    const { body, dropped } = encode({ messages: messages.slice(0, 3) });
    expect(body['contents']).toEqual([
      asked,
      model({ functionCall: { id, name: 'f', args: { a: 1 } }, thoughtSignature: SKIPPED }),
      user({ functionResponse: { id, name: 'f', response: { output: 'ok' } } }),
    ]);
    expect(dropped).toEqual([]);
    expect(encode({ messages: [ask, { role: 'function', name: 'stray', content: 'late' }] }).body['contents']).toEqual([
      user({ text: 'Weather?' }, { text: 'late' }),
    ]);
  });

  test('at the start of a truncated conversation get a user turn before them', () => {
    const { body } = encode({ messages: [{ role: 'assistant', tool_calls: [call('c1', 'f')] }, result('c1', 'ok')] });
    expect((body['contents'] as JsonObject[]).map(({ role }) => role)).toEqual(['user', 'model', 'user']);
  });

  test('with an invalid function name get a valid one', () => {
    const { body } = encode({ messages: [ask, { role: 'assistant', tool_calls: [call('c1', '9 lives!')] }, result('c1', 'ok')] });
    expect(body['contents']).toMatchObject([
      asked,
      model({ functionCall: { name: '_9_lives__852253c0' } }),
      user({ functionResponse: { name: '_9_lives__852253c0' } }),
    ]);
  });
});

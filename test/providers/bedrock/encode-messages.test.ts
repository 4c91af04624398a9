import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { bedrock } from '../../../src/providers/bedrock/bedrock.ts';
import { CALL, CHAT, encode, NOVA, refusalOf, SONNET_45, SONNET_55, TARGET, WEATHER } from './encoding.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const PDF = 'data:application/pdf;base64,JVBERi0=';
const result = (id: string, count: number): JsonObject => ({
  toolResult: { toolUseId: id, content: Array.from({ length: count }, () => ({ text: 'Sun' })) },
});

describe('the request address', () => {
  test('has the model as one segment, and the region of the credentials', () => {
    const arn = 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc';
    const aws = { accessKeyId: 'a', secretAccessKey: 'b', region: 'eu-west-1' };
    const { url, headers } = bedrock.encodeRequest({ ...CHAT, stream: true }, { ...TARGET, model: arn, aws });
    expect(url).toBe(
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fabc/converse-stream',
    );
    expect(headers).toEqual({ 'content-type': 'application/json', accept: 'application/vnd.amazon.eventstream' });
  });

  test('uses the key as a bearer token without credentials, and nothing without either', () => {
    expect(bedrock.encodeRequest(CHAT, TARGET).headers).toMatchObject({ accept: 'application/json', authorization: 'Bearer key' });
    expect(bedrock.encodeRequest(CHAT, { ...TARGET, apiKey: undefined }).headers).not.toHaveProperty('authorization');
    expect(bedrock.encodeRequest(CHAT, TARGET).url).toBe(
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse',
    );
  });
});

describe('a final assistant message', () => {
  const messages = [...CHAT.messages, { role: 'assistant', content: 'Ho ' }];
  const schema = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', properties: { a: { type: 'string' } } } } };

  test.each<[string, string]>([
    ['for a model that supports prefill', NOVA],
    ['for Claude up to 4.5', SONNET_45],
  ])('%s is continued', (_, model) => {
    expect((encode({ messages }, { model }).body['messages'] as JsonObject[]).at(-1)).toEqual({
      role: 'assistant',
      content: [{ text: 'Ho' }],
    });
  });

  test('with a cache mark is continued without white space at its end', () => {
    const marked = [...CHAT.messages, { role: 'assistant', content: 'Ho ', cache_control: { type: 'ephemeral' } }];
    expect((encode({ messages: marked }, { model: SONNET_45 }).body['messages'] as JsonObject[]).at(-1)).toEqual({
      role: 'assistant',
      content: [{ text: 'Ho' }, { cachePoint: { type: 'default' } }],
    });
  });

  test.each<[string, string, Partial<ChatRequest>]>([
    ['for Claude from 4.6 on', 'anthropic.claude-sonnet-4-6-v1', {}],
    ['for the newest Claude', SONNET_55, {}],
    ['for a model with a thinking budget', SONNET_45, { reasoning_effort: 'high' }],
    ['for an answer with a grammar', SONNET_45, { response_format: schema }],
  ])('%s, where it would be refused, is followed by a user turn', (_, model, chat) => {
    expect((encode({ messages, ...chat }, { model }).body['messages'] as JsonObject[]).slice(-2)).toEqual([
      { role: 'assistant', content: [{ text: 'Ho ' }] },
      { role: 'user', content: [{ text: 'Continue.' }] },
    ]);
  });
});

describe('messages', () => {
  test.each<[string, readonly JsonObject[], Partial<JsonObject>]>([
    ['text becomes a block', [{ role: 'user', content: 'Hi' }], { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
    [
      'instructions are separated, wherever they appear',
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: [{ type: 'text', text: 'In German.' }] },
      ],
      { system: [{ text: 'Be brief.' }, { text: 'In German.' }], messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
    ],
    [
      'adjacent turns of one role are merged, and blank texts dropped',
      [
        { role: 'user', content: 'One' },
        {
          role: 'user',
          content: [
            { type: 'text', text: ' \n' },
            { type: 'text', text: 'Two' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Three' },
      ],
      { messages: [{ role: 'user', content: [{ text: 'One' }, { text: 'Two' }, { text: 'Three' }] }] },
    ],
    [
      'a refusal becomes the assistant’s text',
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: 'Why?' },
      ],
      {
        messages: [
          { role: 'user', content: [{ text: 'Hi' }] },
          { role: 'assistant', content: [{ text: 'No.' }] },
          { role: 'user', content: [{ text: 'Why?' }] },
        ],
      },
    ],
    [
      'a conversation that starts with the assistant gets an opening user turn',
      [{ role: 'assistant', content: 'Hello! ' }],
      {
        messages: [
          { role: 'user', content: [{ text: 'Begin.' }] },
          { role: 'assistant', content: [{ text: 'Hello!' }] },
        ],
      },
    ],
    [
      'so do instructions alone',
      [{ role: 'system', content: 'Write a haiku.' }],
      { system: [{ text: 'Write a haiku.' }], messages: [{ role: 'user', content: [{ text: 'Begin.' }] }] },
    ],
    [
      'images become bytes',
      [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PNG } },
            { type: 'image_url', image_url: 'data:image/webp;base64,/9j/' },
          ],
        },
      ],
      {
        messages: [
          {
            role: 'user',
            content: [
              { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
              { image: { format: 'jpeg', source: { bytes: '/9j/' } } },
            ],
          },
        ],
      },
    ],
    [
      'files get unique names, and text next to them',
      [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'Q3_report  (final).pdf', file_data: PDF } },
            { type: 'file', file: { filename: 'Q3_report (final).pdf', file_data: PDF } },
            { type: 'file', file: { filename: 'notes.md', file_data: 'data:application/octet-stream;base64,IyBB' } },
            { type: 'file', file: { file_data: PDF } },
            { type: 'file', file: { file_data: PNG } },
          ],
        },
      ],
      {
        messages: [
          {
            role: 'user',
            content: [
              { document: { name: 'Q3-report (final)', format: 'pdf', source: { bytes: 'JVBERi0=' } } },
              { document: { name: 'Q3-report (final) 2', format: 'pdf', source: { bytes: 'JVBERi0=' } } },
              { document: { name: 'notes', format: 'md', source: { bytes: 'IyBB' } } },
              { document: { name: 'document', format: 'pdf', source: { bytes: 'JVBERi0=' } } },
              { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
              { text: 'See the attached file.' },
            ],
          },
        ],
      },
    ],
    [
      'cache marks become cache points, at most the last four',
      [{ role: 'user', content: Array.from({ length: 5 }, () => ({ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } })) }],
      {
        messages: [
          {
            role: 'user',
            content: [{ text: 'a' }, ...Array.from({ length: 4 }, () => [{ text: 'a' }, { cachePoint: { type: 'default' } }]).flat()],
          },
        ],
      },
    ],
  ])('%s', (_, messages, expected) => {
    expect(encode({ messages }).body).toEqual(expected as JsonObject);
  });

  test('a cache mark on a file becomes a point after a PDF only', () => {
    const content = ['application/pdf', 'text/csv'].map((type) => ({
      type: 'file',
      file: { filename: 'a', file_data: `data:${type};base64,AAAA` },
      cache_control: { type: 'ephemeral' },
    }));
    const { body, dropped } = encode({ messages: [{ role: 'user', content }] });
    const kinds = (body['messages'] as { content: JsonObject[] }[])[0]?.content.flatMap((block) => Object.keys(block));
    expect(kinds).toEqual(['document', 'cachePoint', 'document', 'text']);
    expect(dropped).toEqual(['messages[].content[].cache_control']);
  });

  test('the last four cache marks count, of tools, instructions and messages', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const marked = [{ type: 'text', text: 'Hi', ...mark }];
    const messages = [
      { role: 'system', content: marked },
      { role: 'user', content: marked },
      { role: 'assistant', content: marked },
      { role: 'user', content: [...marked, ...marked] },
    ];
    const { body, dropped } = encode({ messages, tools: [{ ...WEATHER, ...mark }] }, { model: SONNET_45 });
    expect(JSON.stringify({ toolConfig: body['toolConfig'], system: body['system'] })).not.toContain('cachePoint');
    expect(JSON.stringify(body['messages']).match(/cachePoint/gu)).toHaveLength(4);
    expect(dropped).toEqual(['messages[].content[].cache_control']);
  });

  test('cache marks in tool results become one point after each result', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const calls = ['a', 'b', 'c'].map((id) => ({ ...CALL, id }));
    const marked = { type: 'text', text: 'Sun', ...mark };
    const point = { cachePoint: { type: 'default' } };
    const messages = [
      ...CHAT.messages,
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: 'Sun', ...mark },
      { role: 'tool', tool_call_id: 'b', content: [marked, marked, marked] },
      { role: 'tool', tool_call_id: 'c', content: 'Sun' },
      { role: 'user', content: [{ type: 'text', text: 'So?', ...mark }] },
    ];
    const { body, dropped } = encode({ messages, tools: [WEATHER] }, { model: SONNET_45 });
    expect((body['messages'] as JsonObject[]).at(-1)).toEqual({
      role: 'user',
      content: [result('a', 1), point, result('b', 3), point, result('c', 1), { text: 'So?' }, point],
    });
    expect(dropped).toEqual([]);
    const described = encode({ messages }, { model: SONNET_45 }).body['messages'] as { content: JsonObject[] }[];
    expect(described.at(-1)?.content.filter((block) => 'cachePoint' in block)).toHaveLength(3);
    const nova = encode({ messages, tools: [WEATHER] }, { model: NOVA });
    expect((nova.body['messages'] as { content: JsonObject[] }[]).at(-1)?.content.slice(-3)).toEqual([
      result('c', 1),
      { text: 'So?' },
      point,
    ]);
    expect(nova.dropped).toEqual(['messages[].content[].cache_control']);
  });

  test('cache marks are dropped for a model without a cache', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }];
    expect(encode({ messages }, { model: 'deepseek.v3-v1:0' }).body['messages']).toEqual([{ role: 'user', content: [{ text: 'a' }] }]);
  });

  test('instructions open the conversation of a model without system support', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, ...CHAT.messages];
    const { body } = encode({ messages }, { model: 'mistral.mistral-7b-instruct-v0:2' });
    expect(body).toEqual({ messages: [{ role: 'user', content: [{ text: 'Be brief.' }, { text: 'Hi' }] }] });
  });

  test.each<[string, Partial<ChatRequest>, string, string]>([
    [
      'audio',
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'a' } }] }] },
      NOVA,
      'messages[0].content[0]',
    ],
    ['a video', { messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }, NOVA, 'messages[0].content[0]'],
    [
      'an image in a bucket, which would be opened with our rights',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 's3://a/b.png' }] }] },
      NOVA,
      'messages[0].content[0]',
    ],
    [
      'an image by URL',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'https://a/b.png' }] }] },
      NOVA,
      'messages[0].content[0]',
    ],
    [
      'an image for a text-only model',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: PNG }] }] },
      'deepseek.r1-v1:0',
      'messages[0].content[0]',
    ],
    ['a file by id', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }, NOVA, 'messages[0].content[0]'],
    ['a file without data', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }, NOVA, 'messages[0].content[0]'],
    [
      'a file for a model without file support',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: PDF } }] }] },
      'amazon.nova-micro-v1:0',
      'messages[0].content[0]',
    ],
    [
      'a file of an unknown type',
      {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { filename: 'a.zip', file_data: 'data:application/zip;base64,UEs=' } }] },
        ],
      },
      NOVA,
      'messages[0].content[0]',
    ],
    ['several choices', { n: 2 }, NOVA, 'n'],
    ['an audio answer', { modalities: ['text', 'audio'] }, NOVA, 'modalities'],
    ['functions for a model without tools', { functions: [{ name: 'f' }] }, 'deepseek.r1-v1:0', 'functions'],
    ['tools for a model without them', { tools: [WEATHER] }, 'deepseek.r1-v1:0', 'tools'],
  ])('%s is refused with its position', (_, chat, model, param) => {
    expect(refusalOf(chat, model)).toMatchObject({ status: 400, code: 'unsupported_value', param });
  });
});

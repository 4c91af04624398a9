import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { faultOf } from '../fault-of.ts';
import { bodyOf, encodeMessages, MARK, text, user } from './encoding.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';

const file = (fields: JsonObject): JsonObject => ({ type: 'file', file: fields });
const image = (url: string, more: JsonObject = {}): JsonObject => ({ type: 'image_url', image_url: { url }, ...more });
const base64 = (media_type: string, data: string): JsonObject => ({ type: 'base64', media_type, data });

describe('a content part', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['an inline image', image(PNG), { type: 'image', source: base64('image/png', 'iVBORw0KGgo=') }],
    ['an image with a cache mark', image(PNG, MARK), { type: 'image', source: base64('image/png', 'iVBORw0KGgo='), ...MARK }],
    ['a JPEG under its other name', image('data:image/jpg;base64,AAAA'), { type: 'image', source: base64('image/jpeg', 'AAAA') }],
    [
      'a PNG labelled as a JPEG',
      image('data:image/jpeg;base64,iVBORw0KGgo='),
      { type: 'image', source: base64('image/png', 'iVBORw0KGgo=') },
    ],
    ['a JPEG labelled as a bitmap', image('data:image/bmp;base64,/9j/AA=='), { type: 'image', source: base64('image/jpeg', '/9j/AA==') }],
    ['a GIF labelled as a PNG', image('data:image/png;base64,R0lGODlh'), { type: 'image', source: base64('image/gif', 'R0lGODlh') }],
    [
      'a WebP labelled as a PNG',
      image('data:image/png;base64,UklGRiQAAABXRUJQVlA4IA=='),
      { type: 'image', source: base64('image/webp', 'UklGRiQAAABXRUJQVlA4IA==') },
    ],
    ['an image by URL', image('https://a.example/b'), { type: 'image', source: { type: 'url', url: 'https://a.example/b' } }],
    [
      'a PDF',
      file({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' }),
      { type: 'document', source: base64('application/pdf', 'JVBERi0='), title: 'a.pdf' },
    ],
    [
      'a PDF without a data URL',
      file({ filename: '', file_data: 'JVBERi0x' }),
      { type: 'document', source: base64('application/pdf', 'JVBERi0x') },
    ],
    [
      'a PDF by URL',
      file({ file_data: 'https://a.example/b.pdf' }),
      { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
    ],
    [
      'a text file',
      file({ file_data: 'data:text/csv;base64,w7w7MQ==' }),
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ü;1' } },
    ],
    [
      'a JSON file',
      file({ file_data: 'data:application/json;base64,e30=' }),
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '{}' } },
    ],
    ['an image sent as a file', file({ file_data: PNG }), { type: 'image', source: base64('image/png', 'iVBORw0KGgo=') }],
  ])('%s', (_, part, block) => {
    expect(bodyOf(encodeMessages([{ role: 'user', content: [part] }])).messages).toEqual([user(block)]);
  });

  test.each<[string, JsonObject]>([
    ['a bitmap', image('data:image/bmp;base64,AAAA')],
    ['an unencrypted URL', image('http://a.example/b.png')],
    ['a file id', file({ file_id: 'file-1' })],
    ['a spreadsheet', file({ file_data: 'data:application/vnd.ms-excel;base64,AAAA' })],
    ['audio', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['a video', { type: 'video_url', video_url: { url: 'https://a.example/b.mp4' } }],
  ])('that cannot be sent is refused by its position: %s', (_, part) => {
    expect(faultOf(() => encodeMessages([{ role: 'user', content: [text('a'), part] }]))).toMatchObject({
      status: 400,
      param: 'messages[0].content[1]',
    });
  });
});

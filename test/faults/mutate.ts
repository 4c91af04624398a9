import { Buffer } from 'node:buffer';
import type { Random } from '../simulator/random.ts';
import { seedRandom } from '../simulator/random.ts';
import { classifyRequest, type RequestClass } from './http-grammar.ts';

/** Bytes to send over a fresh connection, and their classification. */
export interface Mutation extends RequestClass {
  readonly bytes: Buffer;
}

/** Keys in different states, so that every refusal is reached. */
export interface FuzzKeys {
  readonly rich: string;
  readonly broke: string;
  readonly hurried: string;
}

interface Draft {
  method: string;
  path: string;
  headers: [string, string][];
  body: Buffer;
  isChunked: boolean;
}

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const BODIES: readonly Record<string, unknown>[] = [
  { model: 'mock/gpt', messages: MESSAGES },
  { model: 'mock/free', messages: MESSAGES, stream: true, stream_options: { include_usage: true }, n: 2 },
  {
    model: 'mock/gpt',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'é☕' },
          { type: 'image_url', image_url: { url: 'data:,x' } },
        ],
      },
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '7' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'auto',
    temperature: 0.5,
    max_tokens: 5,
    stop: ['a'],
    seed: 7,
    logit_bias: { '50256': -100 },
    metadata: { a: 'b' },
  },
];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'BREW'];
const PATHS = ['/v1/chat/completions', '/v1/models', '/v1/models/mock/gpt', '/v1/models/mock%2Fgpt', '/v1', '/v2/models'];
const PATH_PIECES = ['/', '//', '/..', '/%2e%2e', '%00', '%zz', '%', '?', '?a=b&a', '#', ';', '\\', '%F0%9F', '/v1', '~', '"'];
const HEADERS = ['authorization', 'content-type', 'content-length', 'host', 'expect', 'connection', 'accept', 'cookie', 'x-a'];
const HEADER_VALUES = [
  '',
  'Bearer',
  'Bearer ',
  'Basic eA==',
  '100-continue',
  'close',
  'keep-alive',
  'gzip',
  'text/html',
  '-1',
  '99999999999',
  '0',
];
const VALUES = [
  'null',
  'true',
  '-1',
  '0',
  '1e999',
  '-0.0',
  '1.5',
  '9223372036854775807',
  '""',
  '"\\ud800"',
  '"\\u0000"',
  '[]',
  '{}',
  '[null]',
];
const TOKENS = ['{', '}', '[', ']', ',', ':', '"', '\\', '\\u', '/**/', 'NaN', '\u{feff}', '\0', '\u2028', '"__proto__":', '"model":'];
const RARE_VALUES = [
  '"'.concat('x'.repeat(5000), '"'),
  '['.repeat(70).concat(']'.repeat(70)),
  '[1,'.repeat(50).concat('1', ']'.repeat(50)),
];

/** Returns the request with this index in the run given by `seed`. */
export function mutateRequest(keys: FuzzKeys, seed: number, index: number): Mutation {
  const random = seedRandom(seed + index * 7919);
  const draft = draftRequest(keys, random);
  for (let count = random.below(3); count >= 0; count -= 1) random.pick(MUTATORS)(draft, random);
  let bytes = serialise(draft);
  if (random.below(8) === 0) bytes = damageHead(bytes, random);
  if (random.below(5) === 0) bytes = bytes.subarray(0, random.below(bytes.length));
  return { bytes, ...classifyRequest(bytes) };
}

function draftRequest(keys: FuzzKeys, random: Random): Draft {
  const isChat = random.below(5) > 0;
  const turn = random.below(20);
  const secret = turn === 0 ? keys.broke : turn < 3 ? keys.hurried : keys.rich;
  return {
    method: isChat ? 'POST' : 'GET',
    path: isChat ? '/v1/chat/completions' : random.pick(PATHS),
    headers: [
      ['Host', '127.0.0.1'],
      ['Connection', 'close'],
      ['Authorization', `Bearer ${secret}`],
      ['Content-Type', 'application/json'],
    ],
    body: isChat ? Buffer.from(JSON.stringify(random.pick(BODIES))) : Buffer.alloc(0),
    isChunked: false,
  };
}

const MUTATORS: readonly ((draft: Draft, random: Random) => void)[] = [
  replaceValue,
  replaceValue,
  replaceValue,
  insertToken,
  insertToken,
  damageBody,
  damageBody,
  (draft, random) => void (draft.body = draft.body.subarray(0, random.below(draft.body.length + 1))),
  (draft, random) => void (draft.body = Buffer.concat([draft.body, draft.body.subarray(random.below(draft.body.length + 1))])),
  (draft, random) => void (draft.method = random.pick(METHODS)),
  (draft, random) => void (draft.path = random.pick(PATHS)),
  mutatePath,
  mutateHeader,
  mutateHeader,
  (draft, random) => void draft.headers.splice(random.below(draft.headers.length), 1),
  (draft) => void (draft.isChunked = true),
  (draft, random) => {
    if (random.below(50) === 0) draft.headers.push(['X-Long', 'a'.repeat(20_000)]);
  },
];

/** Replaces a random value in the JSON text with an odd one. */
function replaceValue(draft: Draft, random: Random): void {
  const text = draft.body.toString('latin1');
  const values = [...text.matchAll(/(?<=[:[,])("(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null|\[\]|\{\})/gu)];
  if (values.length === 0) return;
  const value = random.pick(values);
  const odd = random.below(20) === 0 ? random.pick(RARE_VALUES) : random.pick(VALUES);
  const end = value.index + value[0].length;
  draft.body = Buffer.from(`${text.slice(0, value.index)}${odd}${text.slice(end)}`, 'latin1');
}

function insertToken(draft: Draft, random: Random): void {
  const position = random.below(draft.body.length + 1);
  const token = Buffer.from(random.pick(TOKENS));
  draft.body = Buffer.concat([draft.body.subarray(0, position), token, draft.body.subarray(position)]);
}

function damageBody(draft: Draft, random: Random): void {
  if (draft.body.length > 0) draft.body = damageByte(draft.body, random.below(draft.body.length), random);
}

function mutatePath(draft: Draft, random: Random): void {
  const position = random.below(draft.path.length + 1);
  const piece = random.below(30) === 0 ? 'a'.repeat(4000) : random.pick(PATH_PIECES);
  draft.path = `${draft.path.slice(0, position)}${piece}${draft.path.slice(position)}`;
}

function mutateHeader(draft: Draft, random: Random): void {
  const name = random.pick(HEADERS);
  const value = random.below(3) === 0 ? randomText(random) : random.pick(HEADER_VALUES);
  const existing = draft.headers.find((header) => header[0].toLowerCase() === name);
  if (existing === undefined || random.below(4) === 0) draft.headers.push([name, value]);
  else existing[1] = value;
}

function randomText(random: Random): string {
  const length = random.below(40);
  return Array.from({ length }, () => String.fromCharCode(0x20 + random.below(0xdf))).join('');
}

/** Changes bytes before the blank line, usually into something that is not HTTP at all. */
function damageHead(bytes: Buffer, random: Random): Buffer {
  const end = Math.max(1, bytes.indexOf('\r\n\r\n'));
  return damageByte(bytes, random.below(end), random);
}

function damageByte(bytes: Buffer, position: number, random: Random): Buffer {
  const before = bytes.subarray(0, position);
  const isInsert = random.below(2) === 0;
  return Buffer.concat([before, Buffer.from([random.below(256)]), bytes.subarray(isInsert ? position : position + 1)]);
}

function serialise(draft: Draft): Buffer {
  const isGiven = draft.headers.some(([name]) => name === 'content-length');
  const framing: [string, string][] = draft.isChunked
    ? [['Transfer-Encoding', 'chunked']]
    : isGiven || (draft.method === 'GET' && draft.body.length === 0)
      ? []
      : [['Content-Length', String(draft.body.length)]];
  const lines = [...draft.headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${draft.method} ${draft.path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return Buffer.concat([head, draft.isChunked ? encodeChunks(draft.body) : draft.body]);
}

function encodeChunks(body: Buffer): Buffer {
  const middle = Math.ceil(body.length / 2);
  const parts = [body.subarray(0, middle), body.subarray(middle)].filter((part) => part.length > 0);
  const framed = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]);
}

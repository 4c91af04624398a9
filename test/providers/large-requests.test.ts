import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import type { DialectName } from '../../src/providers/dialect-names.ts';
import { cpuMs } from '../cpu.ts';

/**
 * Requests well below the size limit that once took seconds or minutes to encode and blocked everyone else. Encoding
 * time must grow linearly with the length, not with its square.
 */
const CPU_MS_MAX = 2500;

const MODELS: Partial<Record<DialectName, string>> = {
  anthropic: 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-v1:0',
};

const list = <Item>(length: number, item: (index: number) => Item): Item[] => Array.from({ length }, (_, index) => item(index));
const tool = (parameters: JsonObject): JsonObject => ({ type: 'function', function: { name: 'look_up', strict: true, parameters } });

const ENUM = tool({ type: 'integer', enum: list(160_000, (index) => index) });
const ALL_OF = tool({ allOf: list(8000, (index) => ({ properties: { [`p${index}`]: {} }, required: [`p${index}`] })) });
const REFERENCES = tool({
  type: 'object',
  properties: { first: { $ref: '#/$defs/d0' } },
  required: ['first'],
  $defs: Object.fromEntries(list(2000, (index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }])),
});
const DOUBLING = tool({
  $defs: Object.fromEntries(
    list(100, (index) => {
      const next = { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { type: 'object' }] };
      return [`d${index}`, { type: 'object', properties: { a: next, b: next } }];
    }),
  ),
  allOf: [{ $ref: '#/$defs/d0' }, { type: 'object' }],
});
const FILE = { type: 'file', file: { file_data: 'data:text/plain;base64,' } };

describe.each(['anthropic', 'gemini', 'bedrock'] as const)('a large request to %s is encoded quickly', (dialect) => {
  test.each<[string, JsonObject]>([
    ['an enumeration', { tools: [ENUM] }],
    ['a schema with many parts', { tools: [ALL_OF] }],
    ['references among other parts that double', { tools: [DOUBLING] }],
    ['a long chain of references', { tools: list(16, () => REFERENCES) }],
    [
      'many messages of one role',
      { messages: list(400, () => ({ role: 'user', content: list(2000, () => ({ type: 'text', text: 'a' })) })) },
    ],
    ['files without a name', { messages: list(10, () => ({ role: 'user', content: list(1000, () => FILE) })) }],
  ])('%s', (_, fields) => {
    const model = MODELS[dialect] ?? '';
    const chat = { model, messages: [{ role: 'user', content: 'Hi' }], ...fields } as ChatRequest;
    const beganAtMs = cpuMs();
    const { body } = DIALECTS[dialect].encodeRequest(chat, { baseUrl: 'https://localhost', apiKey: 'k', model, outputTokensMax: 100 });
    expect(cpuMs() - beganAtMs).toBeLessThan(CPU_MS_MAX);
    expect(body.length).toBeGreaterThan(10_000);
  });
});

test('files with the same name get unique names', () => {
  const names = ['a.txt', 'a 2.txt', 'a.txt', 'a.txt', 'b.txt'];
  const content = names.map((filename) => ({ type: 'file', file: { ...FILE.file, filename } }));
  const chat = { model: 'm', messages: [{ role: 'user', content }] };
  const { body } = DIALECTS.bedrock.encodeRequest(chat, { baseUrl: 'https://localhost', apiKey: 'k', model: 'm', outputTokensMax: 100 });
  expect([...body.matchAll(/"name":"([^"]*)"/gu)].map((match) => match[1])).toEqual(['a', 'a 2', 'a 3', 'a 4', 'b']);
});

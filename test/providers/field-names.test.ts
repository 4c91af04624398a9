import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { anthropic, anthropicVertex } from '../../src/providers/anthropic/anthropic.ts';
import { bedrock } from '../../src/providers/bedrock/bedrock.ts';
import { FieldNames } from '../../src/providers/field-names.ts';
import type { Dialect } from '../../src/providers/dialect.ts';
import { fieldsIn } from '../simulator/anthropic-rules.ts';
import { contextFor, seeReply, seeStream, type Seen } from './drive.ts';

/** Field names that Claude refuses, at the root, below it, in a definition, and in a branch. */
const PARAMETERS = {
  type: 'object',
  properties: {
    $top: { type: 'integer' },
    place: { type: 'array', items: { type: 'object', properties: { '@id': { type: 'string' }, 'first name': true } } },
    properties: { type: 'string', default: { $top: 1 } },
    same: { $ref: '#/properties/$top' },
  },
  required: ['$top', 'place'],
  dependentRequired: { $top: ['place'] },
  $defs: { one: { properties: { größe: {} }, required: ['größe'] } },
};
const INPUT = { $top: 1, place: [{ '@id': 'a"$top":', 'first name': 'B' }], properties: '"$top": 1', same: 12345678901 };
const TOOL = { type: 'function', function: { name: 'find', parameters: PARAMETERS } };
const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: JSON.stringify(INPUT) } };
const CHAT: ChatRequest = {
  model: 'm',
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
  ],
};

function send(dialect: Dialect, chat: ChatRequest, model: string): JsonObject {
  return JSON.parse(
    dialect.encodeRequest(chat, { baseUrl: 'https://a.example', apiKey: 'k', model, outputTokensMax: 100 }).body,
  ) as JsonObject;
}

/** How a dialect sends a tool and an earlier call, and the events of a streamed call. */
interface Spelling {
  readonly dialect: Dialect;
  readonly model: string;
  readonly sent: (body: JsonObject) => { readonly schema: JsonObject; readonly input: JsonObject };
  readonly whole: (input: JsonObject) => unknown;
  readonly events: (pieces: readonly string[]) => readonly (readonly [name: string, data: unknown])[];
}

interface Messages {
  readonly tools: readonly { readonly input_schema: JsonObject }[];
  readonly messages: readonly { readonly content: readonly { readonly input: JsonObject }[] }[];
}

const MESSAGES: Omit<Spelling, 'dialect' | 'model'> = {
  sent: (body) => {
    const { tools, messages } = body as unknown as Messages;
    return { schema: tools[0]?.input_schema ?? {}, input: messages[1]?.content[0]?.input ?? {} };
  },
  whole: (input) => ({ content: [{ type: 'tool_use', id: 't1', name: 'find', input }] }),
  events: (pieces) => [
    ['', { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't1', name: 'find', input: {} } }],
    ...pieces.map(
      (json) => ['', { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } }] as const,
    ),
    ['', { type: 'content_block_stop', index: 0 }],
    ['', { type: 'message_delta', delta: { stop_reason: 'tool_use' } }],
  ],
};

interface Converse {
  readonly toolConfig: { readonly tools: readonly { readonly toolSpec: { readonly inputSchema: { readonly json: JsonObject } } }[] };
  readonly messages: readonly { readonly content: readonly { readonly toolUse: { readonly input: JsonObject } }[] }[];
}

const CONVERSE: Spelling = {
  dialect: bedrock,
  model: 'anthropic.claude-sonnet-4-5-v1:0',
  sent: (body) => {
    const { toolConfig, messages } = body as unknown as Converse;
    return { schema: toolConfig.tools[0]?.toolSpec.inputSchema.json ?? {}, input: messages[1]?.content[0]?.toolUse.input ?? {} };
  },
  whole: (input) => ({ output: { message: { content: [{ toolUse: { toolUseId: 't1', name: 'find', input } }] } }, stopReason: 'tool_use' }),
  events: (pieces) => [
    ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't1', name: 'find' } } }],
    ...pieces.map((input) => ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input } } }] as const),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: 'tool_use' }],
  ],
};

const SPELLINGS: readonly [string, Spelling][] = [
  ['Claude', { ...MESSAGES, dialect: anthropic, model: 'claude-opus-5' }],
  ['Claude on Vertex', { ...MESSAGES, dialect: anthropicVertex, model: 'claude-opus-5' }],
  ['Claude on Bedrock', CONVERSE],
];

const calledWith = ({ message }: Seen): unknown => (message['tool_calls'] as { function: { arguments: string } }[])[0]?.function.arguments;

describe.each(SPELLINGS)('fields that %s refuses', (_, { dialect, model, sent, whole, events }) => {
  const { schema, input } = sent(send(dialect, CHAT, model));

  test('get other names in the schema, at every depth', () => {
    expect(fieldsIn(schema).filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/u.test(name))).toEqual([]);
    const { properties, required } = schema as { properties: Record<string, JsonObject>; required: string[] };
    const [top = ''] = required;
    expect(required).toEqual([top, 'place']);
    expect(Object.keys(properties)).toEqual([top, 'place', 'properties', 'same']);
    expect(properties[top]).toEqual({ title: '$top', type: 'integer' });
    expect(properties['properties']).toEqual(PARAMETERS.properties.properties);
    expect(properties['same']).toEqual({ $ref: `#/properties/${top}` });
    expect(schema['dependentRequired']).toEqual({ [top]: ['place'] });
    const { one } = schema['$defs'] as Record<string, { properties: JsonObject; required: string[] }>;
    expect(Object.keys(one?.properties ?? {})).toEqual(one?.required ?? []);
  });

  test('have the same names in earlier calls', () => {
    const names = Object.keys(schema['properties'] as JsonObject);
    expect(Object.keys(input)).toEqual(names);
    expect(JSON.stringify(input)).not.toMatch(/"(?:@id|first name)":/u);
  });

  test('get their names back in a whole answer', () => {
    const seen = seeReply(dialect.decodeReply(JSON.stringify(whole(input)), contextFor(CHAT)));
    expect(calledWith(seen)).toBe(JSON.stringify(INPUT));
  });

  test('get their names back in a stream, wherever it is split', () => {
    const json = JSON.stringify(input, undefined, 1);
    const spread = JSON.stringify(INPUT, undefined, 1);
    fc.assert(
      fc.property(fc.array(fc.nat(json.length - 1), { maxLength: 8 }), fc.boolean(), (cuts, isCutOff) => {
        const ends = [...cuts.toSorted((one, other) => one - other), isCutOff ? json.lastIndexOf('}') : json.length];
        const pieces = ends.map((end, index) => json.slice(ends[index - 1] ?? 0, end));
        const decoder = dialect.decodeStream(contextFor(CHAT));
        const chunks = events(pieces).flatMap(([name, data]) => decoder.push({ name, data: JSON.stringify(data) }));
        expect(calledWith(seeStream(decoder, chunks))).toBe(isCutOff ? spread.slice(0, -1) : spread);
      }),
    );
  });
});

describe('fields that Claude refuses', () => {
  test('get other names in the tool through which it answers, and their own in the answer', () => {
    const open = {
      type: 'object',
      properties: { $top: { type: 'integer' } },
      required: ['$top'],
      additionalProperties: { type: 'string' },
    };
    const chat = {
      ...CHAT,
      tools: [],
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: open } },
    };
    const { tools } = send(anthropic, chat, 'claude-opus-5') as unknown as { tools: { name: string; input_schema: typeof open }[] };
    const [top = ''] = tools[0]?.input_schema.required ?? [];
    expect(top).toMatch(/^_top_[0-9a-f]{8}$/u);
    const block = { type: 'tool_use', id: 't1', name: tools[0]?.name, input: { [top]: 1 } };
    const seen = seeReply(anthropic.decodeReply(JSON.stringify({ content: [block], stop_reason: 'tool_use' }), contextFor(chat)));
    expect(seen.message['content']).toBe('{"$top":1}');
    const decoder = anthropic.decodeStream(contextFor(chat));
    const json = `{"${top}":1}`;
    const streamed = [
      { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
      ...json
        .split('')
        .map((partial_json) => ({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } })),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    ].flatMap((event) => decoder.push({ name: undefined, data: JSON.stringify(event) }));
    expect(seeStream(decoder, streamed).message['content']).toBe('{"$top":1}');
  });

  test('keep their names for the other models of Bedrock', () => {
    const { schema, input } = CONVERSE.sent(send(bedrock, CHAT, 'mistral.mistral-large-2407-v1:0'));
    expect(schema).toEqual(PARAMETERS);
    expect(input).toEqual(INPUT);
  });
});

test('a schema without such fields, its input and its answers are passed on as they are', () => {
  const schema = { properties: { a: {}, 'b.c-d_1': {} } };
  const names = new FieldNames(schema);
  const input = { a: 1, $other: {} };
  expect(names.encodeSchema(schema)).toBe(schema);
  expect(names.encodeInput(input)).toBe(input);
  expect(names.decoder()('"a')).toBe('"a');
});

test('no more of a stream is held back than a name could have', () => {
  const decode = new FieldNames({ properties: { $top: {} } }).decoder();
  expect(decode('{"_top_')).toBe('{');
  const value = `1","b":"${'a'.repeat(64)}`;
  expect(decode(value)).toBe('"_top_1","b":');
  expect(decode('a')).toBe(`"${'a'.repeat(65)}`);
  expect(decode('b')).toBe('b');
});

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/openai/types.ts';
import { encodeSchema, Grammar } from '../../../src/providers/anthropic/encode-schema.ts';
import { schemaBreach } from '../../simulator/anthropic-rules.ts';

const optional = (count: number): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])),
});

/** A schema with this many unions, in each of the spellings. */
const unions = (count: number): JsonObject => {
  const spellings = [{ type: ['string', 'null'] }, { anyOf: [{ type: 'string' }] }, { oneOf: [{ type: 'string' }] }];
  const names = Array.from({ length: count }, (_, index) => `p${index}`);
  return { type: 'object', properties: Object.fromEntries(names.map((name, index) => [name, spellings[index % 3]])), required: names };
};

describe('a schema', () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      'closes its objects',
      { type: 'object', properties: { a: { properties: {} }, b: { type: ['object', 'null'] } } },
      {
        type: 'object',
        properties: { a: { properties: {}, additionalProperties: false }, b: { type: ['object', 'null'], additionalProperties: false } },
        additionalProperties: false,
      },
    ],
    [
      'describes what the grammar does not support',
      { type: 'number', description: 'A number.', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
      { type: 'number', description: 'A number. (minimum: 1, exclusiveMaximum: 9, multipleOf: 2)' },
    ],
    ['describes it without a description too', { type: 'string', pattern: '^a$' }, { type: 'string', description: '(pattern: "^a$")' }],
    [
      'turns oneOf into anyOf',
      { oneOf: [{ type: 'string', minLength: 1 }], anyOf: [{ type: 'null' }] },
      { anyOf: [{ type: 'string', description: '(minLength: 1)' }, { type: 'null' }] },
    ],
    ['merges allOf', { allOf: [{ type: 'string' }, true] }, { type: 'string' }],
    [
      'merges the parts of one object, which would each exclude the others',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { allOf: [{ type: 'object', properties: { a: { description: 'A' }, b: {} }, required: ['b'] }] },
        ],
        description: 'd',
      },
      {
        type: 'object',
        properties: { a: { type: 'string', description: 'A' }, b: {} },
        required: ['a', 'b'],
        description: 'd',
        additionalProperties: false,
      },
    ],
    ['keeps supported formats', { type: 'string', format: 'date' }, { type: 'string', format: 'date' }],
    ['describes other formats', { type: 'string', format: 'color' }, { type: 'string', description: '(format: "color")' }],
    [
      'converts list items',
      { type: 'array', items: { type: 'object' }, minItems: 1 },
      { type: 'array', items: { type: 'object', additionalProperties: false }, description: '(minItems: 1)' },
    ],
    ['describes tuples', { type: 'array', items: [{ type: 'string' }] }, { type: 'array', description: '(items: [{"type":"string"}])' }],
    [
      'converts definitions',
      { $ref: '#/$defs/a', description: 'x', $defs: { a: { type: 'object' } } },
      { $ref: '#/$defs/a', $defs: { a: { type: 'object', additionalProperties: false } } },
    ],
    [
      'converts old definitions',
      { type: 'null', definitions: { a: { type: 'string' }, b: true } },
      { type: 'null', definitions: { a: { type: 'string' }, b: true } },
    ],
    [
      'drops what is not a constraint',
      { $schema: 'x', type: 'string', examples: ['a'], title: 't', default: 'a', enum: ['a'] },
      { type: 'string', title: 't', default: 'a', enum: ['a'] },
    ],
  ])('%s', (_, schema, encoded) => {
    expect(encodeSchema(schema)).toEqual(encoded);
  });

  const recursive = {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] } },
  };
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `d${index}`,
      { properties: { a: { $ref: `#/$defs/d${index + 1}` }, b: { $ref: `#/$defs/d${index + 1}` } }, required: ['a', 'b'] },
    ]),
  );
  test.each<[string, JsonObject, boolean]>([
    ['a plain one', { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }, true],
    ['a shared definition', { anyOf: [{ $ref: '#/$defs/a~1b' }, { $ref: '#/$defs/a~1b' }], $defs: { 'a/b': { type: 'string' } } }, true],
    ['definitions that double forty times', { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'string' } } }, true],
    ['a recursive one', recursive, false],
    ['a reference to its own root', { type: 'array', items: { $ref: '#' } }, false],
    ['a dangling reference', { $ref: '#/$defs/a/b' }, false],
    ['an open map', { type: 'object', additionalProperties: { type: 'string' } }, false],
    ['a nested open map', { type: 'array', items: { type: 'object', additionalProperties: true } }, false],
    ['an object of arbitrary fields', { type: 'object', properties: { a: { type: 'object' } }, required: ['a'] }, false],
    ['an object of arbitrary fields, or null', { properties: { a: { type: ['object', 'null'], properties: {} } }, required: ['a'] }, false],
    ['an object of arbitrary fields behind a reference', { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }, false],
    ['an object without fields', { type: 'object', properties: {}, additionalProperties: false }, true],
    ['pattern properties', { type: 'object', properties: { a: {} }, patternProperties: { '^x': { type: 'string' } } }, false],
    ['twelve optional fields', optional(12), true],
    ['thirteen optional fields', optional(13), false],
    ['sixteen unions', unions(16), true],
    ['seventeen unions', unions(17), false],
    [
      'parts of one object',
      {
        allOf: [
          { properties: { a: {} }, required: ['a'] },
          { properties: { b: {} }, required: ['b'] },
        ],
      },
      true,
    ],
    ['parts that disagree', { allOf: [{ type: 'string' }, { type: ['string', 'null'] }] }, false],
    ['two choices at once', { allOf: [{ anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'null' }] }] }, false],
    ['references in allOf', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { type: 'string' } } }, false],
  ])('is accepted by the grammar or not: %s', (_, schema, is) => {
    expect(new Grammar(true).encode(schema)).toEqual(is ? encodeSchema(schema) : undefined);
  });

  test.each<[string, JsonObject[], boolean[]]>([
    ['optional fields', [optional(12), optional(11), optional(2), optional(1), optional(1)], [true, true, false, true, false]],
    ['unions', [unions(10), unions(7), unions(6), unions(1), optional(1)], [true, false, true, false, true]],
  ])('shares the limits with the other schemas of its request: %s', (_, schemas, taken) => {
    const grammar = new Grammar(true);
    expect(schemas.map((schema) => grammar.encode(schema) !== undefined)).toEqual(taken);
  });

  test('never has a keyword that the provider refuses', () => {
    const { schema } = fc.letrec<{ schema: JsonObject; node: JsonObject }>((tie) => ({
      schema: fc.oneof({ maxDepth: 3 }, fc.constant({ type: 'string', minLength: 1 }), tie('node')),
      node: fc.record(
        {
          type: fc.constantFrom('object', 'string', 'array', 'integer', ['string', 'null']),
          description: fc.string(),
          format: fc.constantFrom('date', 'color'),
          properties: fc.dictionary(fc.string(), tie('schema'), { maxKeys: 3 }),
          items: tie('schema'),
          oneOf: fc.array(tie('schema'), { maxLength: 2 }),
          allOf: fc.array(tie('schema'), { maxLength: 2 }),
          $defs: fc.dictionary(fc.string(), tie('schema'), { maxKeys: 2 }),
          additionalProperties: fc.boolean(),
          minimum: fc.integer(),
          pattern: fc.string(),
          not: tie('schema'),
          made_up: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    }));
    fc.assert(
      fc.property(schema, (value) => expect(schemaBreach(encodeSchema(value))).toBeUndefined()),
      { numRuns: 200 },
    );
  });
});

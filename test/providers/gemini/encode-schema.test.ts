import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/openai/types.ts';
import { encodeSchema } from '../../../src/providers/gemini/encode-schema.ts';
import { complainAboutSchema } from '../../simulator/gemini-schema.ts';

describe('a schema', () => {
  test.each<[string, schema: JsonObject, encoded: JsonObject, lost?: readonly string[]]>([
    [
      'supported keywords',
      { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'], additionalProperties: false },
      {
        type: 'object',
        properties: { a: { type: ['string', 'null'] } },
        required: ['a'],
        additionalProperties: false,
      },
    ],
    [
      'descriptive keywords',
      { $schema: 's', $comment: 'c', type: 'string', default: 'x', examples: ['x'], 'x-own': 1 },
      { type: 'string' },
    ],
    ['lost constraints', { type: 'string', pattern: 'x', maxLength: 3 }, { type: 'string' }, ['pattern', 'maxLength']],
    [
      'a property named like a constraint',
      { properties: { pattern: { type: 'string' } } },
      { properties: { pattern: { type: 'string' } } },
    ],
    ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
    ['a constant with its type', { type: 'integer', const: 3 }, { type: 'integer', enum: [3] }],
    ['a constant that cannot be listed', { const: true }, { type: 'boolean' }, ['enum']],
    ['an enumeration', { type: 'string', enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['an enumeration of two types', { enum: ['a', 1] }, { type: ['string', 'number'], enum: ['a', 1] }],
    [
      'an enumeration with null',
      { type: ['string', 'null'], enum: ['a', null] },
      { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    ],
    [
      'an enumeration of two types with null',
      { enum: ['a', 1, null] },
      { anyOf: [{ type: ['string', 'number'], enum: ['a', 1] }, { type: 'null' }] },
    ],
    ['an enumeration of only null', { enum: [null] }, { type: 'null' }],
    ['an enumeration of lists', { enum: [['a'], 'b'] }, { type: ['array', 'string'] }, ['enum']],
    ['a reference with siblings', { $ref: '#/$defs/a', description: 'd' }, { $ref: '#/$defs/a' }],
    [
      'definitions under their old name',
      { type: 'object', definitions: { a: { const: 'x' } }, properties: { b: { $ref: '#/definitions/a' } } },
      { type: 'object', $defs: { a: { type: 'string', enum: ['x'] } }, properties: { b: { $ref: '#/$defs/a' } } },
    ],
    [
      'a reference at the root',
      { $ref: '#/definitions/a', definitions: { a: { type: 'string' } } },
      { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } },
    ],
    ['a single reference in allOf', { allOf: [{ $ref: '#/$defs/a' }], description: 'd' }, { $ref: '#/$defs/a' }],
    [
      'a reference with constraints beside it',
      { $ref: '#/$defs/a', title: 't', properties: { b: { type: 'string' } }, required: ['b'] },
      { $ref: '#/$defs/a' },
      ['properties', 'required'],
    ],
    ['a reference to nothing among other parts', { allOf: [{ $ref: '#/$defs/a' }, { type: 'object' }] }, { $ref: '#/$defs/a' }, ['allOf']],
    [
      'references among other parts',
      {
        allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { $ref: '#/$defs/a', description: 'd' }],
        properties: { c: { type: 'string' } },
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }], required: ['x'] }, b: { type: 'object', properties: { x: { type: 'number' } } } },
      },
      {
        type: 'object',
        properties: { x: { type: 'number' }, c: { type: 'string' } },
        required: ['x'],
        description: 'd',
        $defs: {
          a: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
          b: { type: 'object', properties: { x: { type: 'number' } } },
        },
      },
    ],
    [
      'a reference that recurs among other parts',
      {
        $ref: '#/$defs/a',
        $defs: { a: { allOf: [{ type: 'object' }, { properties: { next: { allOf: [{ $ref: '#/$defs/a' }, { title: 't' }] } } }] } },
      },
      {
        $ref: '#/$defs/a',
        $defs: {
          a: {
            type: 'object',
            properties: { next: { type: 'object', title: 't', properties: { next: { $ref: '#/$defs/a' } } } },
          },
        },
      },
      ['allOf'],
    ],
    [
      'parts that say different things about one field',
      { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { enum: ['x'] } } }] },
      { properties: { a: { type: 'string', enum: ['x'] } } },
    ],
    ['parts that disagree', { allOf: [{ minimum: 5 }, { minimum: 1 }] }, { minimum: 1 }, ['allOf']],
    [
      'the parts of one object',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } }, required: ['a', 'b'] },
        ],
        description: 'd',
      },
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a', 'b'], description: 'd' },
    ],
    [
      'lists and alternatives',
      { type: 'array', items: { oneOf: [{ const: 1 }, true] }, prefixItems: [{ type: 'string' }], maxItems: 960 },
      {
        type: 'array',
        items: { oneOf: [{ type: 'number', enum: [1] }, true] },
        prefixItems: [{ type: 'string' }],
        maxItems: 960,
      },
    ],
    [
      'more items than Google accepts',
      { type: 'object', properties: { a: { type: 'array', maxItems: 500 }, b: { type: 'array', maxItems: 500 } } },
      { type: 'object', properties: { a: { type: 'array' }, b: { type: 'array' } } },
      ['maxItems'],
    ],
    ['an invalid schema', { properties: 7, anyOf: 'x', maxItems: 'many' }, { maxItems: 'many' }],
  ])('is converted: %s', (_, schema, encoded, lost = []) => {
    const result = encodeSchema(schema);
    expect(JSON.parse(JSON.stringify(result.schema))).toEqual(encoded);
    expect(result.lost).toEqual(lost);
  });

  test('is in the supported subset, whatever the input', () => {
    const leaf = { type: fc.constantFrom('string', 'object'), pattern: fc.string(), maxItems: fc.nat(2000), description: fc.string() };
    const values = {
      enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean()), { minLength: 1, maxLength: 3 }),
      const: fc.oneof(fc.string(), fc.boolean()),
      $ref: fc.constantFrom('#/definitions/a', '#/$defs/b'),
    };
    const nest = (inner: fc.Arbitrary<object>): fc.Arbitrary<object> => {
      const map = fc.dictionary(fc.string(), inner, { maxKeys: 2 });
      const list = fc.array(inner, { minLength: 1, maxLength: 2 });
      const nested = { properties: map, $defs: map, definitions: map, items: inner, anyOf: list, allOf: list, not: inner };
      return fc.record({ ...leaf, ...values, ...nested }, { requiredKeys: [] });
    };
    const schemas = nest(nest(fc.record({ ...leaf, ...values }, { requiredKeys: [] })));
    fc.assert(
      fc.property(schemas, (schema) => {
        const encoded: unknown = JSON.parse(JSON.stringify(encodeSchema({ ...schema }).schema));
        expect(complainAboutSchema(encoded, 'schema')).toBeUndefined();
      }),
    );
  });
});

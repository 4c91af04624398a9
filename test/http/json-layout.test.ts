import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { countPairs, JsonLayout } from '../../src/http/json-layout.ts';

describe('the layout of a JSON text', () => {
  test('locates the fields of the outermost object, whatever they hold', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 5 })), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const { fields } = new JsonLayout(text);
        const found = [...fields].map(([name, { start, end }]) => [name, JSON.parse(text.slice(start, end))] as const);
        expect(found.map(([name]) => name)).toEqual(Object.keys(value));
        for (const [name, field] of found) expect(field).toEqual(JSON.parse(JSON.stringify(value[name])));
      }),
      { numRuns: 500 },
    );
  });

  test('counts as many pairs as the parsed value has', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(new JsonLayout(text).pairs).toBe(countPairs(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"a":{"b":1,"c":[],"b":2}}]',
    '{"__proto__":1,"__proto__":2}',
    '{"a":[{"x":"\\"},{","x":":"}]}',
  ])('counts more pairs than the parsed value has when a name appears twice: %s', (text) => {
    expect(new JsonLayout(text).pairs).toBe(countPairs(JSON.parse(text)) + 1);
  });

  test.each(['{"__proto__":{"a":1}}', '{"a":"{\\"b\\":1}"}', '{"a":"\\\\","b":{"c":":"}}', '[]', '3', '"a:b"'])(
    'is not misled by %s',
    (text) => {
      expect(new JsonLayout(text).pairs).toBe(countPairs(JSON.parse(text)));
    },
  );

  test.each([
    ['{"seed":9007199254740993}', true],
    ['[-1234567890123456]', true],
    ['{"seed":123456789012345}', false],
    ['{"a":"12345678901234567890"}', false],
    ['{"12345678901234567890":1}', false],
    ['[12345678,90123456]', false],
  ])('shows whether a number may lose digits: %s', (text, isWide) => {
    expect(new JsonLayout(text).hasWideNumber).toBe(isWide);
  });

  test.each([
    ['{"x":1e400}', true],
    ['[1.5E+3]', true],
    ['{"x":0e1}', true],
    ['{"x":1,"stream":true,"echo":false,"e":1}', false],
    ['{"x":"1e400","1e400":1}', false],
  ])('shows whether a number has an exponent: %s', (text, hasExponent) => {
    expect(new JsonLayout(text).hasExponent).toBe(hasExponent);
  });

  test('records a bounded number of fields, however many there are', () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field_${index}`, index])));
    const { fields, pairs } = new JsonLayout(text);
    expect([fields.size, pairs]).toEqual([1000, 5000]);
  });

  test('of an invalid text does no harm', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '1', 'u'), maxLength: 60 }), (text) => {
        expect(new JsonLayout(text).pairs).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 2000 },
    );
  });
});

import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { PartialCalls } from '../../../src/providers/gemini/partial-calls.ts';

const open = (name: string): JsonObject => ({ functionCall: { name, willContinue: true }, thoughtSignature: 'sig' });
const grow = (...partialArgs: unknown[]): JsonObject => ({ functionCall: { partialArgs, willContinue: true } });
const at = (jsonPath: string, value: JsonObject): JsonObject => ({ jsonPath, ...value });
const CLOSE = { functionCall: {} };
const whole = (name: string, args: JsonObject): JsonObject => ({ functionCall: { name, id: undefined, args }, thoughtSignature: 'sig' });

/** Returns the parts for events with one part each, the last of which ends the answer. */
function join(...parts: readonly JsonObject[]): JsonObject[] {
  const calls = new PartialCalls();
  return parts.flatMap((part, index) => calls.join([part], index === parts.length - 1));
}

describe('arguments that arrive in pieces', () => {
  test.each<[string, JsonObject[], JsonObject[]]>([
    [
      'are absent from a complete call',
      [{ functionCall: { name: 'a', args: {} } }, { text: 'b' }],
      [{ functionCall: { name: 'a', args: {} } }, { text: 'b' }],
    ],
    ['may be none', [open('a'), CLOSE], [whole('a', {})]],
    [
      'grow as strings',
      [open('a'), grow(at('$.b', { stringValue: 'c' })), grow(at('$.b', { stringValue: 'd' })), CLOSE],
      [whole('a', { b: 'cd' })],
    ],
    [
      'are put at their paths',
      [
        open('a'),
        grow(
          at('$.b.c[1].d', { numberValue: 0 }),
          at("$.b.c[0]['e f']", { boolValue: false }),
          at('$.g', { nullValue: 'NULL_VALUE' }),
          'odd',
        ),
        CLOSE,
      ],
      [whole('a', { b: { c: [{ 'e f': false }, { d: 0 }] }, g: null })],
    ],
    [
      'end with the next call',
      [open('a'), { functionCall: { name: 'b', args: {} } }],
      [whole('a', {}), { functionCall: { name: 'b', args: {} } }],
    ],
    ['end with the answer', [open('a'), { text: 'b' }], [{ text: 'b' }, whole('a', {})]],
    ['without a call are ignored', [grow(at('$.b', { stringValue: 'c' })), CLOSE], []],
  ])('%s', (_, parts, expected) => {
    expect(join(...parts)).toEqual(expected);
  });

  test.each<[string, string]>([
    ['no path', '$'],
    ['the prototype', '$.__proto__.polluted'],
    ['an oversized index', '$.b[99999999]'],
    ['a path that is too deep', `$${'.b'.repeat(100)}`],
    ['a path inside a string', '$.text.b.c'],
  ])('with %s are ignored', (_, path) => {
    const [call] = join(open('a'), grow(at('$.text', { stringValue: 'c' }), at(path, { stringValue: 'd' })), CLOSE);
    expect(call).toEqual(whole('a', { text: 'c' }));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

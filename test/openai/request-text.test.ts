import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { JsonLayout } from '../../src/http/json-layout.ts';
import { RequestText } from '../../src/openai/request-text.ts';
import type { JsonObject } from '../../src/openai/types.ts';

const LONG = 'word '.repeat(1000);

function read(text: string): { readonly value: JsonObject; readonly source: RequestText | undefined } {
  const value = JSON.parse(text) as JsonObject;
  return { value, source: RequestText.of(text, new JsonLayout(text), value) };
}

describe('the original text of a long request', () => {
  test('is copied where it did not change, and rewritten where it did', () => {
    const { value, source } = read(`{ "model" : "a", "seed":1.50, "messages": [ "${LONG}", "\\u0041" ], "stop" : null }`);
    const written = source?.write({ ...value, model: 'b', extra: { new: true } });
    expect(written).toBe(`{"model":"b","seed":1.50,"messages": [ "${LONG}", "\\u0041" ],"stop": null ,"extra":{"new":true}}`);
  });

  test('is written with the remaining fields, and without those that have no value', () => {
    const { value, source } = read(`{"messages":["${LONG}"],"gone":1,"last":2}`);
    expect(source?.write({ last: value['last'], gone: undefined })).toBe('{"last":2}');
    expect(source?.write({})).toBe('{}');
  });

  test('is not confused by a value that moved to another name', () => {
    const { value, source } = read(`{"max_tokens":5,"messages":["${LONG}"]}`);
    expect(JSON.parse(source?.write({ max_completion_tokens: value['max_tokens'], messages: value['messages'] }) ?? '')).toEqual({
      max_completion_tokens: 5,
      messages: [LONG],
    });
  });

  test('says the same as a rewritten one, whatever changes', () => {
    const field = fc.string({ unit: 'grapheme', maxLength: 5 });
    const fields = fc.dictionary(field, fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(fields, fields, fc.array(field), (before, changes, dropped) => {
        const { value, source } = read(JSON.stringify({ ...before, '': LONG }, undefined, 1));
        const body: JsonObject = { ...value, ...changes };
        for (const name of dropped) delete body[name];
        expect(JSON.parse(source?.write(body) ?? '')).toEqual(JSON.parse(JSON.stringify(body)));
      }),
      { numRuns: 500 },
    );
  });

  test('with more fields than are recorded is written in full', () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`field_${index}`, index]));
    const { value, source } = read(JSON.stringify({ ...many, messages: [LONG] }));
    expect(JSON.parse(source?.write({ ...value, model: 'b' }) ?? '')).toEqual({ ...many, messages: [LONG], model: 'b' });
  });

  test.each([
    ['is short', '{"messages":["Hi"]}'],
    ['names a field twice', `{"messages":["${LONG}"],"n":1,"n":2}`],
    ['names a field twice, deep inside', `{"messages":[{"content":"${LONG}","content":""}]}`],
    ['is not an object', `["${LONG}"]`],
  ])('is not used where it %s', (_, text) => {
    expect(read(text).source).toBeUndefined();
  });
});

import { describe, expect, test } from 'bun:test';
import { writeDropped } from '../../src/gateway/dropped-header.ts';

describe('the header that lists dropped fields', () => {
  test('lists their names', () => {
    expect(writeDropped(['seed', 'messages[].name', 'tools[0].function.strict'])).toBe('seed, messages[].name, tools[0].function.strict');
  });

  test.each([
    ['snow☃', 'snow?'],
    ['two\r\nlines', 'two??lines'],
    ['one, two', 'one??two'],
    ['half\ud800', 'half?'],
    ['nul\0', 'nul?'],
  ])('replaces characters that a header cannot hold: %j', (name, written) => {
    expect(writeDropped(['seed', name])).toBe(`seed, ${written}`);
    expect(() => new Headers({ name: writeDropped([name]) })).not.toThrow();
  });

  test('is bounded, however long or many the names are', () => {
    expect(writeDropped(['x'.repeat(100_000)])).toBe('x'.repeat(100));
    const many = writeDropped(Array.from({ length: 10_000 }, (_, index) => `field_${index}`));
    expect(many).toStartWith('field_0, field_1, ');
    expect(many).toEndWith(', ...');
    expect(many.length).toBeLessThan(2100);
  });
});

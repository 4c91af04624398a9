import { expect, test } from 'bun:test';
import { readFreeJson } from '../../src/providers/custom-tools.ts';

test('the text of a custom tool is what arrived of it, wherever it was cut off', () => {
  const text = 'a "quoted" \\ path\nü \u2028 😀';
  const json = ` {"input": ${JSON.stringify(text).replaceAll(/[ü\u2028]/gu, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)}}`;
  const start = json.indexOf(': "') + 3;
  for (let length = start; length <= json.length; length += 1) {
    const read = readFreeJson(json.slice(0, length));
    expect(text.startsWith(read)).toBe(true);
    // At most one escape sequence is incomplete.
    expect(read.length).toBeGreaterThanOrEqual(Math.min(text.length, Math.floor((length - start) / 6)));
  }
  expect(readFreeJson(json)).toBe(text);
});

test.each(['{"inp', '{"input"', '{"input":', '[1]', '{"other":1}', '{"other":"cut', '', '{"input":"a\nb'])('%j stays as it is', (json) => {
  expect(readFreeJson(json)).toBe(json);
});

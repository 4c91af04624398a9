import { describe, expect, test } from 'bun:test';
import { isNestedTooDeep, JSON_DEPTH_MAX } from '../../src/openai/json-depth.ts';
import { readToolCalls } from '../../src/providers/content.ts';

const arrays = (levels: number, inside = ''): string => '['.repeat(levels) + inside + ']'.repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('the depth of a JSON text', () => {
  test.each([
    ['of arrays at the limit', arrays(JSON_DEPTH_MAX, '1'), false],
    ['of arrays beyond it', arrays(JSON_DEPTH_MAX + 1, '1'), true],
    ['of objects at the limit', objects(JSON_DEPTH_MAX), false],
    ['of objects beyond it', objects(JSON_DEPTH_MAX + 1), true],
    ['with many arrays side by side', `[${'[[1]],'.repeat(5000)}1]`, false],
    ['with brackets in its strings', JSON.stringify({ a: '['.repeat(5000), b: `"\\${'{'.repeat(5000)}` }), false],
    ['without an end', '['.repeat(5000), true],
    ['with an unterminated string', `["${'['.repeat(5000)}`, false],
  ])('is measured for one %s', (_, text, isTooDeep) => {
    expect(isNestedTooDeep(text)).toBe(isTooDeep);
  });
});

function inputOf(text: string): unknown {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: text } };
  return readToolCalls({ role: 'assistant', tool_calls: [call] })[0]?.input;
}

test('arguments that are nested too deeply are passed on as text', () => {
  const text = `{"a":${arrays(40_000)}}`;
  expect(inputOf(text)).toEqual({ value: text });
  expect(inputOf('{"a":[[1]]}')).toEqual({ a: [[1]] });
});

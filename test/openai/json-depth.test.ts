import { describe, expect, test } from 'bun:test';
import { isNestedTooDeep, JSON_DEPTH_MAX } from '../../src/openai/json-depth.ts';
import { readToolCalls } from '../../src/providers/content.ts';

const arrays = (levels: number, inside = ''): string => '['.repeat(levels) + inside + ']'.repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('a JSON text', () => {
  test.each([
    ['of arrays at the limit', arrays(JSON_DEPTH_MAX, '1'), false],
    ['of arrays beyond it', arrays(JSON_DEPTH_MAX + 1, '1'), true],
    ['of objects at the limit', objects(JSON_DEPTH_MAX), false],
    ['of objects beyond it', objects(JSON_DEPTH_MAX + 1), true],
    ['with many arrays side by side', `[${'[[1]],'.repeat(5000)}1]`, false],
    ['with brackets in its texts', JSON.stringify({ a: '['.repeat(5000), b: `"\\${'{'.repeat(5000)}` }), false],
    ['that does not end', '['.repeat(5000), true],
    ['whose text does not end', `["${'['.repeat(5000)}`, false],
  ])('%s is judged by its depth alone', (_, text, isTooDeep) => {
    expect(isNestedTooDeep(text)).toBe(isTooDeep);
  });
});

function inputOf(text: string): unknown {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: text } };
  return readToolCalls({ role: 'assistant', tool_calls: [call] })[0]?.input;
}

test('arguments that are nested too deep are passed on as the text that they are', () => {
  const text = `{"a":${arrays(40_000)}}`;
  expect(inputOf(text)).toEqual({ value: text });
  expect(inputOf('{"a":[[1]]}')).toEqual({ a: [[1]] });
});

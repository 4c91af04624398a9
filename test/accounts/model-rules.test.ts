import { describe, expect, test } from 'bun:test';
import { intersectRules } from '../../src/accounts/model-rules.ts';

describe('the models that two lists both allow', () => {
  test.each<[readonly string[], readonly string[], readonly string[]]>([
    [['a/one', 'a/two'], ['a/two', 'b/one'], ['a/two']],
    [['a/*'], ['a/two', 'b/one'], ['a/two']],
    [['a/two', 'b/one'], ['a/*'], ['a/two']],
    [
      ['a/*', 'b/one'],
      ['a/*', 'b/*'],
      ['a/*', 'b/one'],
    ],
    [['a/*'], ['b/*'], []],
    [[], ['a/*'], []],
  ])('%j and %j', (first, second, both) => {
    expect(intersectRules(first, second)).toEqual([...both]);
  });
});

import { expect, test } from 'bun:test';
import { lineOfText, visibleName } from '../../src/accounts/line-of-text.ts';

test.each(['Nightly build', '夜のビルド', 'ليلي', '👩‍🚀', '—'])('%s is a name', (name) => {
  expect(visibleName().parse(` ${name} `)).toBe(name);
});

test.each([
  ['nothing', ''],
  ['blanks', '   '],
  ['what has no width', '\u200B\u2060'],
  ['a tab', 'a\tb'],
  ['a command to a terminal', '\u001B[2J'],
  ['a turned direction', 'invoice\u202Efdp.exe'],
  ['an isolated part', 'a\u2066b\u2069'],
  ['half a character', 'a\uD83D'],
])('%s is no name', (_, name) => {
  expect(visibleName().safeParse(name).success).toBeFalse();
});

test('a line may be empty', () => expect(lineOfText.parse('  ')).toBe(''));

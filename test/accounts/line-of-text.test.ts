import { expect, test } from 'bun:test';
import { lineOfText, visibleName } from '../../src/accounts/line-of-text.ts';

test.each(['Nightly build', '夜のビルド', 'ليلي', '👩‍🚀', '—'])('%s is a valid name', (name) => {
  expect(visibleName().parse(` ${name} `)).toBe(name);
});

test.each([
  ['an empty text', ''],
  ['spaces', '   '],
  ['characters without width', '\u200B\u2060'],
  ['a tab', 'a\tb'],
  ['a terminal command', '\u001B[2J'],
  ['a mark that changes the text direction', 'invoice\u202Efdp.exe'],
  ['an isolate mark', 'a\u2066b\u2069'],
  ['an unpaired surrogate', 'a\uD83D'],
])('%s is not a valid name', (_, name) => {
  expect(visibleName().safeParse(name).success).toBeFalse();
});

test('a line may be empty', () => expect(lineOfText.parse('  ')).toBe(''));

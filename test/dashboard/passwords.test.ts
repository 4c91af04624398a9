import { expect, test } from 'bun:test';
import { refuseWeakPassword } from '../../src/dashboard/auth/requests.ts';

async function verdictOf(password: string): Promise<string> {
  const refused = await refuseWeakPassword(password, 'ada@example.com').catch((error: Error) => error);
  if (refused === undefined) return 'accepted';
  return refused.message.includes('leaked passwords') ? 'leaked' : 'common';
}

test.each([
  ['password123', 'common'],
  ['ada@example.com', 'common'],
  ['mailcreated5240', 'leaked'],
  ['Polniypizdec0211', 'leaked'],
  ['nuttertools', 'leaked'],
  ['NutterTools99!', 'leaked'],
  ['_terminator_2', 'leaked'],
  ['terminator 4821 9371', 'accepted'],
  ['the terminator of my garden', 'accepted'],
  ['correct horse battery', 'accepted'],
  ['seven loud herons', 'accepted'],
  ['k9$Vq2!xTz7', 'accepted'],
  ['ein langer weg nach hause', 'accepted'],
  ['длинный пароль из слов', 'accepted'],
])('the password %s is %s', async (password, expected) => {
  expect(await verdictOf(password)).toBe(expected);
});

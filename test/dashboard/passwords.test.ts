import { expect, test } from 'bun:test';
import { refuseKnownPassword } from '../../src/dashboard/auth/requests.ts';

async function saidOf(password: string): Promise<string> {
  const refused = await refuseKnownPassword(password, 'ada@example.com').catch((error: Error) => error);
  if (refused === undefined) return 'taken';
  return refused.message.includes('leaked passwords') ? 'stolen' : 'common';
}

test.each([
  ['password123', 'common'],
  ['ada@example.com', 'common'],
  ['mailcreated5240', 'stolen'],
  ['Polniypizdec0211', 'stolen'],
  ['nuttertools', 'stolen'],
  ['NutterTools99!', 'stolen'],
  ['_terminator_2', 'stolen'],
  ['terminator 4821 9371', 'taken'],
  ['the terminator of my garden', 'taken'],
  ['correct horse battery', 'taken'],
  ['seven loud herons', 'taken'],
  ['k9$Vq2!xTz7', 'taken'],
  ['ein langer weg nach hause', 'taken'],
  ['длинный пароль из слов', 'taken'],
])('the password %s is %s', async (password, expected) => {
  expect(await saidOf(password)).toBe(expected);
});

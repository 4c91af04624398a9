import { expect, test } from 'bun:test';
import { endUserOf } from '../../src/gateway/end-user.ts';

const CHAT = { model: 'sandbox/echo', messages: [] };

test.each<[string, object, string | undefined]>([
  ['a safety identifier', { safety_identifier: 'customer-7' }, 'customer-7'],
  ['a user', { user: 'ada@example.com' }, 'ada@example.com'],
  ['both, of which the newer field counts', { safety_identifier: 'new', user: 'old' }, 'new'],
  ['an empty one beside a user', { safety_identifier: '', user: 'old' }, 'old'],
  ['null', { safety_identifier: null }, undefined],
  ['nothing', {}, undefined],
  ['a name as long as one may be', { user: 'x'.repeat(128) }, 'x'.repeat(128)],
])('%s', (_, fields, expected) => {
  expect(endUserOf({ ...CHAT, ...fields })).toBe(expected);
});

test.each([
  ['longer than a name', 'x'.repeat(129)],
  ['with a character that a database refuses', 'a\u0000b'],
  ['with half a character', 'a\uD800b'],
])('what is %s is told by its hash, the same every time', (_, user) => {
  const told = endUserOf({ ...CHAT, user });
  expect(told).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(endUserOf({ ...CHAT, user })).toBe(told);
  expect(endUserOf({ ...CHAT, user: `${user}!` })).not.toBe(told);
});

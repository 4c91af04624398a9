import { expect, test } from 'bun:test';
import { endUserOf } from '../../src/gateway/end-user.ts';

const CHAT = { model: 'sandbox/echo', messages: [] };

test.each<[string, object, string | undefined]>([
  ['a safety identifier', { safety_identifier: 'customer-7' }, 'customer-7'],
  ['a user', { user: 'ada@example.com' }, 'ada@example.com'],
  ['both, of which the newer field counts', { safety_identifier: 'new', user: 'old' }, 'new'],
  ['an empty identifier and a user', { safety_identifier: '', user: 'old' }, 'old'],
  ['null', { safety_identifier: null }, undefined],
  ['nothing', {}, undefined],
  ['a name of the maximum length', { user: 'x'.repeat(128) }, 'x'.repeat(128)],
])('finds the end user of a request with %s', (_, fields, expected) => {
  expect(endUserOf({ ...CHAT, ...fields })).toBe(expected);
});

test.each([
  ['too long', 'x'.repeat(129)],
  ['with a character that a database cannot store', 'a\u0000b'],
  ['with a lone surrogate', 'a\uD800b'],
])('a name %s is replaced by its hash, the same every time', (_, user) => {
  const hash = endUserOf({ ...CHAT, user });
  expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(endUserOf({ ...CHAT, user })).toBe(hash);
  expect(endUserOf({ ...CHAT, user: `${user}!` })).not.toBe(hash);
});

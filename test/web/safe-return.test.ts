import { expect, test } from 'bun:test';
import { safeReturn } from '../../web/safe-return.ts';

const ORIGIN = 'https://gate.example.com';

test.each(['/keys', '/usage?range=7d&zone=Europe%2FBerlin', '/requests?q=a#b', '/', '/.//other.example', '/%2F/other.example'])(
  'signing in continues to %s',
  (path) => {
    const end = new URL(safeReturn(path, ORIGIN));
    expect([end.origin, end.href]).toEqual([ORIGIN, ORIGIN + path.replace('/.//', '//')]);
  },
);

test.each([
  undefined,
  '',
  'keys',
  'https://other.example',
  '//other.example',
  '/\\other.example',
  '/\t/other.example',
  '/\n/other.example',
  '/\r\\other.example',
  '\t//other.example',
  'javascript:alert(1)',
  '//[',
])('signing in never redirects to %j', (path) => {
  expect(safeReturn(path, ORIGIN)).toBe(`${ORIGIN}/overview`);
});

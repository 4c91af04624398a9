import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { coarseRange, isInRanges, parseAddressRange } from '../../src/http/address-range.ts';

function isIn(address: string, ...texts: readonly string[]): boolean {
  const ranges = texts.map((text) => parseAddressRange(text));
  return isInRanges(
    address,
    ranges.filter((range) => range !== undefined),
  );
}

describe('a range of addresses', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    [' 10.1.2.3/8 ', '10.0.0.0/8'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8:1:2:3::/48', '2001:db8:1::/48'],
    ['::/0', '::/0'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
  ])('%s is %s', (text, spelled) => {
    expect(parseAddressRange(text)?.text).toBe(spelled);
  });

  test.each([
    '',
    'localhost',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '0x7f.1',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '/8',
    'fe80::1%eth0',
    '::ffff:0:0/64',
  ])('%p is none', (text) => {
    expect(parseAddressRange(text)).toBeUndefined();
  });

  test('has the addresses of its block and no other', () => {
    expect(isIn('203.0.113.255', '203.0.113.0/24')).toBe(true);
    expect(isIn('203.0.114.0', '203.0.113.0/24')).toBe(false);
    expect(isIn('2001:db8:1:ffff::9', '2001:db8:1::/48')).toBe(true);
    expect(isIn('2001:db8:2::9', '2001:db8:1::/48')).toBe(false);
    expect(isIn('10.0.0.1', '192.0.2.0/24', '10.0.0.1')).toBe(true);
  });

  test('of everything in one family has nothing of the other', () => {
    expect(isIn('10.0.0.1', '::/0')).toBe(false);
    expect(isIn('2001:db8::1', '0.0.0.0/0')).toBe(false);
  });

  test('has an IPv4 caller whose connection spells the address as IPv6', () => {
    expect(isIn('::ffff:10.0.0.1', '10.0.0.0/8')).toBe(true);
    expect(isIn('fe80::1%eth0', 'fe80::/10')).toBe(true);
  });

  test('has nobody without an address', () => {
    expect(isIn('', '0.0.0.0/0', '::/0')).toBe(false);
    expect(isIn('unix', '0.0.0.0/0', '::/0')).toBe(false);
  });

  test('that a caller is told to be in has the caller', () => {
    for (const address of [fc.ipV4(), fc.ipV6()]) fc.assert(fc.property(address, (text) => isIn(text, coarseRange(text))));
  });
});

test('of a caller a block is kept, not the address', () => {
  expect(coarseRange('203.0.113.77')).toBe('203.0.113.0/24');
  expect(coarseRange('::ffff:203.0.113.77')).toBe('203.0.113.0/24');
  expect(coarseRange('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1::/48');
  expect(coarseRange('')).toBe('');
});

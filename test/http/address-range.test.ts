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

describe('an address range', () => {
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
  ])('%s is read as %s', (text, spelled) => {
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
  ])('%p is not a range', (text) => {
    expect(parseAddressRange(text)).toBeUndefined();
  });

  test('contains the addresses of its block and no others', () => {
    expect(isIn('203.0.113.255', '203.0.113.0/24')).toBe(true);
    expect(isIn('203.0.114.0', '203.0.113.0/24')).toBe(false);
    expect(isIn('2001:db8:1:ffff::9', '2001:db8:1::/48')).toBe(true);
    expect(isIn('2001:db8:2::9', '2001:db8:1::/48')).toBe(false);
    expect(isIn('10.0.0.1', '192.0.2.0/24', '10.0.0.1')).toBe(true);
  });

  test('that spans one family contains nothing of the other', () => {
    expect(isIn('10.0.0.1', '::/0')).toBe(false);
    expect(isIn('2001:db8::1', '0.0.0.0/0')).toBe(false);
  });

  test('contains an IPv4 caller whose connection spells the address as IPv6', () => {
    expect(isIn('::ffff:10.0.0.1', '10.0.0.0/8')).toBe(true);
    expect(isIn('fe80::1%eth0', 'fe80::/10')).toBe(true);
  });

  test('contains no caller without an address', () => {
    expect(isIn('', '0.0.0.0/0', '::/0')).toBe(false);
    expect(isIn('unix', '0.0.0.0/0', '::/0')).toBe(false);
  });

  test('that is shown for a caller contains the caller', () => {
    for (const address of [fc.ipV4(), fc.ipV6()]) fc.assert(fc.property(address, (text) => isIn(text, coarseRange(text))));
  });
});

test('only a block of the caller’s address is kept', () => {
  expect(coarseRange('203.0.113.77')).toBe('203.0.113.0/24');
  expect(coarseRange('::ffff:203.0.113.77')).toBe('203.0.113.0/24');
  expect(coarseRange('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1::/48');
  expect(coarseRange('')).toBe('');
});

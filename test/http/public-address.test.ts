import { describe, expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { isPublicAddress } from '../../src/http/public-address.ts';

/** The special-purpose registries of IANA, typed in separately so that no list is checked against itself. */
const SPECIAL_IPV4 = [
  ['this network', '0.0.0.0/8'],
  ['private, large', '10.0.0.0/8'],
  ['carrier-grade NAT', '100.64.0.0/10'],
  ['loopback', '127.0.0.0/8'],
  ['link-local', '169.254.0.0/16'],
  ['private, middle', '172.16.0.0/12'],
  ['protocol assignments', '192.0.0.0/24'],
  ['documentation 1', '192.0.2.0/24'],
  ['6to4 relays', '192.88.99.0/24'],
  ['private, small', '192.168.0.0/16'],
  ['benchmarks', '198.18.0.0/15'],
  ['documentation 2', '198.51.100.0/24'],
  ['documentation 3', '203.0.113.0/24'],
  ['multicast', '224.0.0.0/4'],
  ['reserved', '240.0.0.0/4'],
] as const;

const SPECIAL_IPV6 = [
  ['IPv4-compatible', '0:0:0:0:0:0:0:0/96'],
  ['IPv4-mapped', '0:0:0:0:0:ffff:0:0/96'],
  ['translated', '0:0:0:0:ffff:0:0:0/96'],
  ['NAT64', '64:ff9b:0:0:0:0:0:0/96'],
  ['local NAT64', '64:ff9b:1:0:0:0:0:0/48'],
  ['discard', '100:0:0:0:0:0:0:0/64'],
  ['Teredo', '2001:0:0:0:0:0:0:0/32'],
  ['benchmarks', '2001:2:0:0:0:0:0:0/48'],
  ['documentation', '2001:db8:0:0:0:0:0:0/32'],
  ['6to4', '2002:0:0:0:0:0:0:0/16'],
  ['documentation, new', '3fff:0:0:0:0:0:0:0/20'],
  ['segment routing', '5f00:0:0:0:0:0:0:0/16'],
  ['unique local', 'fc00:0:0:0:0:0:0:0/7'],
  ['link-local', 'fe80:0:0:0:0:0:0:0/10'],
  ['site-local', 'fec0:0:0:0:0:0:0:0/10'],
  ['multicast', 'ff00:0:0:0:0:0:0:0/8'],
] as const;

const IPV4 = { bits: 32, wordBits: 8, radix: 10, separator: '.' };
const IPV6 = { bits: 128, wordBits: 16, radix: 16, separator: ':' };

interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

function parseRange(cidr: string, { bits, wordBits, radix, separator }: typeof IPV4): Range {
  const [address = '', length] = cidr.split('/');
  const first = address.split(separator).reduce((sum, word) => (sum << BigInt(wordBits)) + BigInt(Number.parseInt(word, radix)), 0n);
  return { first, last: first + (1n << BigInt(bits - Number(length))) - 1n };
}

function write(value: bigint, { bits, wordBits, radix, separator }: typeof IPV4): string {
  const words = Array.from(
    { length: bits / wordBits },
    (_, index) => (value >> BigInt(bits - (index + 1) * wordBits)) & ((1n << BigInt(wordBits)) - 1n),
  );
  return words.map((word) => word.toString(radix)).join(separator);
}

describe.each([
  ...SPECIAL_IPV4.map(([name, cidr]) => [name, cidr, IPV4] as const),
  ...SPECIAL_IPV6.map(([name, cidr]) => [name, cidr, IPV6] as const),
])('%s, %s,', (_, cidr, family) => {
  const { first, last } = parseRange(cidr, family);

  test('is not public, from its first address to its last', () => {
    expect([write(first, family), write(last, family)].filter(isPublicAddress)).toEqual([]);
    fc.assert(fc.property(fc.bigInt({ min: first, max: last }), (value) => !isPublicAddress(write(value, family))));
  });
});

test('every other IPv4 address is public', () => {
  const ranges = [...SPECIAL_IPV4.map(([, cidr]) => parseRange(cidr, IPV4)), ...OTHER_IPV4.map((cidr) => parseRange(cidr, IPV4))];
  const others = fc
    .bigInt({ min: 0n, max: 0xff_ff_ff_ffn })
    .filter((value) => ranges.every(({ first, last }) => value < first || value > last));
  fc.assert(fc.property(others, (value) => isPublicAddress(write(value, IPV4))));
});

/** Anycast services of the internet itself, and one cloud's platform: no media is hosted there. */
const OTHER_IPV4 = ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '168.63.129.16/32'];

test('no IPv6 address outside of 2000::/3 is public', () => {
  const { first, last } = parseRange('2000:0:0:0:0:0:0:0/3', IPV6);
  const others = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).filter((value) => value < first || value > last);
  fc.assert(fc.property(others, (value) => !isPublicAddress(write(value, IPV6))));
});

test('an IPv6 address that stands for a private IPv4 address is never public', () => {
  const ranges = SPECIAL_IPV4.map(([, cidr]) => parseRange(cidr, IPV4));
  const privates = fc.oneof(...ranges.map(({ first, last }) => fc.bigInt({ min: first, max: last })));
  fc.assert(
    fc.property(privates, (value) => {
      const dotted = write(value, IPV4);
      const words = write(value, { ...IPV6, bits: 32 });
      const forms = [
        `::ffff:${dotted}`,
        `::${dotted}`,
        `64:ff9b::${dotted}`,
        `64:ff9b:1::${dotted}`,
        `::ffff:0:${dotted}`,
        `2002:${words}::1`,
      ];
      return forms.every((form) => !isPublicAddress(form));
    }),
  );
});

test.each(['8.8.8.8', '93.184.215.14', '172.15.255.255', '172.32.0.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '2a00:1450:4001::1'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  ['metadata of most clouds', '169.254.169.254'],
  ['metadata of AWS', 'fd00:ec2::254'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['metadata of Oracle', '192.0.0.192'],
  ['the platform of Azure', '168.63.129.16'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['a name', 'example.com'],
  ['a short form', '127.1'],
  ['a number', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['nothing', ''],
])('%s (%s) is not public', (_, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test('no address of this machine is public', () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  expect(own.map(({ address }) => address).filter(isPublicAddress)).toEqual([]);
});

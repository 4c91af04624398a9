import { describe, expect, test } from 'bun:test';
import { clientAddress, parseNetworks } from '../../src/http/client-address.ts';

const TRUSTED = parseNetworks(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']) ?? [];

const ROWS: readonly (readonly [title: string, connection: string, forwarded: string | undefined, address: string])[] = [
  ['a client without a proxy', '203.0.113.5', undefined, '203.0.113.5'],
  ['a client that writes the header', '203.0.113.5', '1.1.1.1', '203.0.113.5'],
  ['a client behind a proxy', '10.1.2.3', '203.0.113.5', '203.0.113.5'],
  ['a client behind a proxy given by its address', '192.0.2.7', '203.0.113.5', '203.0.113.5'],
  ['a client that writes the header, behind a proxy', '10.1.2.3', '1.1.1.1, 203.0.113.5', '203.0.113.5'],
  ['a client behind two proxies', '10.1.2.3', '203.0.113.5, 10.9.9.9', '203.0.113.5'],
  ['a proxy that calls by itself', '10.1.2.3', undefined, '10.1.2.3'],
  ['a header that is not an address', '10.1.2.3', 'unknown', '10.1.2.3'],
  ['an address with a script in it', '10.1.2.3', '<script>', '10.1.2.3'],
  ['an IPv4 client on a dual-stack socket', '::ffff:203.0.113.5', undefined, '203.0.113.5'],
  ['an IPv4 proxy on a dual-stack socket', '::ffff:10.1.2.3', '2001:db8::1', '2001:db8::1'],
  ['an IPv6 proxy', 'fd00::1', '2001:DB8:0::5', '2001:db8::5'],
  ['a neighbour on a link', 'fe80::1%eth0.5', undefined, 'fe80::1'],
  ['a neighbour on a link of a proxy', 'fd00::1', 'fe80::1%br-lan', 'fe80::1'],
  ['a client whose port the proxy names', '10.1.2.3', '203.0.113.5:51234', '203.0.113.5'],
  ['an IPv6 client whose port the proxy names', '10.1.2.3', '[2001:db8::5]:51234', '2001:db8::5'],
  ['an IPv6 client in brackets', '10.1.2.3', '[2001:db8::5]', '2001:db8::5'],
  ['a client behind two proxies that name ports', '10.1.2.3', '1.1.1.1:1, 203.0.113.5:51234, [fd00::1]:443', '203.0.113.5'],
  ['a port that is not a number', '10.1.2.3', '203.0.113.5:http', '10.1.2.3'],
  ['brackets around a name', '10.1.2.3', '[unknown]:80', '10.1.2.3'],
  ['no address at all', '', '203.0.113.5', ''],
];

describe('the address of a client', () => {
  test.each(ROWS)('is found for %s', (_, connection, forwarded, address) => {
    const headers = new Headers(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });
    expect(clientAddress(connection, headers, TRUSTED)).toBe(address);
  });

  test('comes only from the nearest proxies, however long the list is', () => {
    const headers = new Headers({ 'x-forwarded-for': Array.from({ length: 1000 }, () => '10.0.0.1').join(', ') });
    expect(clientAddress('10.1.2.3', headers, TRUSTED)).toBe('10.0.0.1');
  });

  test.each(['10.0.0.0/33', '10.0.0/8', 'example.com', '', '1.2.3.4.5', '10.0.0.0/-1'])(
    'does not accept %p as a trusted network',
    (text) => {
      expect(parseNetworks([text])).toBeUndefined();
    },
  );
});

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isInRanges, parseAddressRange, type AddressRange } from './address-range.ts';

/** Networks that are trusted to name the client's address. */
export type TrustedNetworks = readonly AddressRange[];

/** More proxies in a row than anybody runs. A longer list is forged. */
const PROXIES_MAX = 16;

/**
 * Returns the address that a request comes from. Anyone can write `x-forwarded-for`, so it is read from its end, where our own proxies
 * append, and only through networks that the operator trusts. The first address beyond them is the client's.
 */
export function clientAddress(connectionAddress: string, headers: { get(name: string): string | null }, trusted: TrustedNetworks): string {
  let address = normalizeAddress(connectionAddress);
  const forwarded = (headers.get('x-forwarded-for') ?? '').split(',').slice(-PROXIES_MAX).toReversed();
  for (const entry of forwarded) {
    if (!isInRanges(address, trusted)) return address;
    const next = normalizeAddress(withoutPort(entry.trim()));
    // Text that is not an address was not written by one of our proxies.
    if (isIP(next) === 0) return address;
    address = next;
  }
  return address;
}

/** Parses networks such as `10.0.0.0/8`, or single addresses. Undefined if one of them is neither. */
export function parseNetworks(texts: readonly string[]): TrustedNetworks | undefined {
  const networks = texts.map(parseAddressRange);
  return networks.every((network) => network !== undefined) ? networks : undefined;
}

/** Some proxies, such as Azure's, append the client's port: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
function withoutPort(text: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+)(?::\d+)?|\[([^[\]]+)\](?::\d+)?)$/.exec(text) ?? [];
  return ipv4 ?? ipv6 ?? text;
}

/**
 * Turns `::ffff:192.0.2.1`, as dual-stack sockets spell IPv4 addresses, into 192.0.2.1. The zone of `fe80::1%eth0.5` names an interface,
 * is not part of the address, and would not always parse.
 */
export function normalizeAddress(text: string): string {
  return isIP(text) === 0 ? text : ipaddr.process(text.replace(/%.*$/, '')).toString();
}

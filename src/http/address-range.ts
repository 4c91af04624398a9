import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A block of addresses, such as `203.0.113.0/24`. */
export interface AddressRange {
  /** The range in its shortest spelling. */
  readonly text: string;
  readonly first: ipaddr.IPv4 | ipaddr.IPv6;
  readonly bits: number;
}

const IPV4_BITS = 32;
const IPV6_BITS = 128;
const MAPPED_BITS = IPV6_BITS - IPV4_BITS;
/** How much of a caller's address is shown: enough to recognise an office or a data centre, not enough to follow a person. */
const COARSE_BITS = { ipv4: 24, ipv6: 48 } as const;
const HOUSEHOLD_BITS = 64;

/** Parses an address or a block, IPv4 or IPv6; undefined when it is neither. Bits beyond the block's length are ignored. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, host = '', length] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  if (isIP(host) === 0) return undefined;
  const parsed = ipaddr.parse(host);
  const bitsMax = parsed.kind() === 'ipv4' ? IPV4_BITS : IPV6_BITS;
  const bits = length === undefined ? bitsMax : Number(length);
  if (bits > bitsMax) return undefined;
  // IPv4 callers are compared as IPv4, however the connection spells them. A block that spans more than the mapped range has no IPv4 form.
  const address = ipaddr.process(host);
  if (address.kind() === parsed.kind()) return rangeOf(address, bits);
  return bits < MAPPED_BITS ? undefined : rangeOf(address, bits - MAPPED_BITS);
}

/** Whether an address is in one of the blocks. Text that is not an address is in none. */
export function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  return ranges.some(({ first, bits }) => first.kind() === parsed.kind() && parsed.match(first, bits));
}

/** Returns the block of an address, coarse enough to be stored; empty when the text is not an address. */
export function coarseRange(address: string): string {
  const parsed = parseAddress(address);
  return parsed === undefined ? '' : rangeOf(parsed, COARSE_BITS[parsed.kind()]).text;
}

/** Returns the network that one household has: with IPv6, each gets 2^64 addresses. Text that is not an address is returned as it is. */
export function networkOf(address: string): string {
  const parsed = parseAddress(address);
  return parsed?.kind() === 'ipv6' ? rangeOf(parsed, HOUSEHOLD_BITS).text : address;
}

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*$/, ''));
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): AddressRange {
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`);
  const isSingle = bits === (address.kind() === 'ipv4' ? IPV4_BITS : IPV6_BITS);
  return { text: isSingle ? network.toString() : `${network.toString()}/${bits}`, first: network, bits };
}

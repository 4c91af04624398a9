import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Networks whose word about the caller's address is believed. */
export type TrustedNetworks = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** More proxies in a row than anybody runs: a longer list is somebody's invention. */
const PROXIES_MAX = 16;

/**
 * Where a request comes from. Everybody can write `x-forwarded-for`, so it is read from its end, where our own proxies
 * add to it, and only as far as the networks that the operator trusts: the first address beyond them is the caller's.
 */
export function clientAddress(connectionAddress: string, headers: Headers, trusted: TrustedNetworks): string {
  let address = normalizeAddress(connectionAddress);
  const forwarded = (headers.get('x-forwarded-for') ?? '').split(',').slice(-PROXIES_MAX).toReversed();
  for (const entry of forwarded) {
    if (!isTrusted(address, trusted)) return address;
    const next = normalizeAddress(entry.trim());
    // What is not an address was not written by a proxy of ours.
    if (isIP(next) === 0) return address;
    address = next;
  }
  return address;
}

/** Reads networks such as `10.0.0.0/8`, or single addresses. Undefined where one is neither. */
export function parseNetworks(texts: readonly string[]): TrustedNetworks | undefined {
  const networks = texts.map(parseNetwork);
  return networks.every((network) => network !== undefined) ? networks : undefined;
}

function parseNetwork(text: string): TrustedNetworks[number] | undefined {
  if (isIP(text) !== 0) return [ipaddr.parse(text), isIP(text) === 4 ? 32 : 128];
  return ipaddr.isValidCIDR(text) && isIP(text.split('/')[0] ?? '') !== 0 ? ipaddr.parseCIDR(text) : undefined;
}

function isTrusted(text: string, trusted: TrustedNetworks): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  return trusted.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

/** A socket for both families says `::ffff:192.0.2.1` where it means 192.0.2.1. */
function normalizeAddress(text: string): string {
  return isIP(text) === 0 ? text : ipaddr.process(text).toString();
}

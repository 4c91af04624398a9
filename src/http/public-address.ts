import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** The part of IPv6 assigned to the public. Everything else embeds another address, tunnels, or is private. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** A documentation block that is newer than the list in the package. */
const DOCUMENTATION_IPV6 = ipaddr.IPv6.parseCIDR('3fff::/20');
/** Azure serves every virtual machine its secrets at this address, which looks like any other. */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Whether an address belongs to the public internet and is not our own. An address that stands for another one (mapped, NAT64, 6to4,
 * Teredo) is never public, because it leads elsewhere than it seems.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text === AZURE_PLATFORM) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || isOwn(address.toNormalizedString())) return false;
  if (address.kind() === 'ipv4') return true;
  return address.match(PUBLIC_IPV6) && !address.match(DOCUMENTATION_IPV6);
}

/** Whether the address is one of this machine's: its services may trust requests to any of them. */
function isOwn(normalized: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address }) => ipaddr.isValid(address) && ipaddr.parse(address).toNormalizedString() === normalized);
}

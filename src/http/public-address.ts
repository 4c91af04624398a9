import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** All of IPv6 that is handed out to the public. Whatever else there is embeds, tunnels or is somebody's own. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Documentation, in a block that is newer than the list of the package. */
const DOCUMENTATION_IPV6 = ipaddr.IPv6.parseCIDR('3fff::/20');
/** Azure tells every virtual machine its secrets at an address that looks like any other. */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * True for an address of the public internet that is not our own. An address that stands for another one (mapped, NAT64,
 * 6to4, Teredo) is never public: what it leads to is not what it looks like.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text === AZURE_PLATFORM) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || isOwn(address.toNormalizedString())) return false;
  if (address.kind() === 'ipv4') return true;
  return address.match(PUBLIC_IPV6) && !address.match(DOCUMENTATION_IPV6);
}

/** Services of this machine may trust it, by whichever of its addresses they are asked. */
function isOwn(normalized: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address }) => ipaddr.isValid(address) && ipaddr.parse(address).toNormalizedString() === normalized);
}

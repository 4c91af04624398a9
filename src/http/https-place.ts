import { isIP } from 'node:net';
import { checkServerIdentity, connect, type TLSSocket } from 'node:tls';

/** The default port of https. */
export const HTTPS_PORT = 443;

/** Returns the host of an https URL, without the brackets around IPv6 addresses. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the port of an https URL. */
export function portOf({ port }: URL): number {
  return port === '' ? HTTPS_PORT : Number(port);
}

/** Connects to one address of the host of an https URL. `ca` replaces the certificates that the system trusts. */
export function connectTo(url: URL, address: string, ca: string | undefined): TLSSocket {
  const host = hostOf(url);
  // TLS does not allow an IP address as server name. The certificate is compared with the address all the same.
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connect({ host: address, port: portOf(url), ALPNProtocols: ['http/1.1'], ...name, ...(ca === undefined ? {} : { ca }) });
}

/** Returns what is wrong with the certificate of a connection. The runtime has verified chain and name; this is a second check. */
export function findImpostor(socket: TLSSocket, url: URL): Error | undefined {
  if (!socket.authorized) return new Error('The certificate is not trusted');
  return checkServerIdentity(hostOf(url), socket.getPeerCertificate());
}

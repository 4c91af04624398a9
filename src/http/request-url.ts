/** Stands for a host that nobody named. Addresses of the service are told apart by their path alone. */
const SOMEWHERE = 'http://host.invalid';

/**
 * The address of a request; undefined where it is none. Of a request whose Host header names no host, the runtime gives the path
 * alone, and with a port that does not exist, an address that cannot be read.
 */
export function readRequestUrl({ url }: Pick<Request, 'url'>): URL | undefined {
  return URL.parse(url, SOMEWHERE) ?? undefined;
}

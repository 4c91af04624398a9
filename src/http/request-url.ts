/** Stands in for a missing host. The paths of the service identify its endpoints. */
const PLACEHOLDER_ORIGIN = 'http://host.invalid';

/**
 * Returns the URL of a request; undefined where it is invalid. For a request without a host in its Host header, the runtime gives only
 * the path. For one with an impossible port, it gives an unreadable URL.
 */
export function readRequestUrl({ url }: Pick<Request, 'url'>): URL | undefined {
  return URL.parse(url, PLACEHOLDER_ORIGIN) ?? undefined;
}

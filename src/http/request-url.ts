/** Stands in for a missing host. The paths of the service identify its endpoints. */
const PLACEHOLDER_ORIGIN = 'http://host.invalid';

/**
 * Returns the URL of a request; undefined where it is invalid. For a request without a host in its Host header, the runtime gives only
 * the path. For one with an impossible port, it gives an unreadable URL.
 */
export function readRequestUrl({ url }: Pick<Request, 'url'>): URL | undefined {
  // A path that begins with two slashes would be read as a host.
  return URL.parse(url.startsWith('//') ? PLACEHOLDER_ORIGIN + url : url, PLACEHOLDER_ORIGIN) ?? undefined;
}

/** Returns the path of a request with single slashes and none at its end: clients double them when they join a base URL and a path. */
export function readPath(request: Pick<Request, 'url'>): string {
  const path = readRequestUrl(request)?.pathname.replaceAll(/\/{2,}/g, '/') ?? '';
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

import { ProtocolError } from './protocol-error.ts';
import { readRequestUrl } from './request-url.ts';

/** A route that matched. */
interface Match<Handler> {
  readonly pattern: string;
  readonly handler: Handler;
}

/** Finds the route of a request: the one with exactly its path, or else the longest that ends in `*` and covers it. `/*` must exist. */
export function matchRoute<Handler>(
  routes: Readonly<Record<string, Handler>>,
  request: { readonly head: { readonly target: string }; readonly url: string },
): Match<Handler> {
  const { target } = request.head;
  const exact = lookUp(routes, target);
  // Nearly all requests are to an address that is written just as the route.
  if (exact !== undefined && !target.endsWith('*')) return { pattern: target, handler: exact };
  const path = readRequestUrl(request)?.pathname;
  // Proxies are asked for the addresses of other servers, which have no path here.
  if (path?.startsWith('/') !== true) throw new ProtocolError('The URL is not valid');
  for (const pattern of [path, ...prefixesOf(path)]) {
    const handler = lookUp(routes, pattern);
    if (handler !== undefined) return { pattern, handler };
  }
  throw new TypeError('There is no route for all other addresses');
}

/** Returns the patterns that cover a path, the longest first. */
function prefixesOf(path: string): string[] {
  const patterns: string[] = [];
  for (let slash = path.lastIndexOf('/'); slash >= 0; slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1))
    patterns.push(`${path.slice(0, slash)}/*`);
  return patterns;
}

function lookUp<Handler>(routes: Readonly<Record<string, Handler>>, name: string): Handler | undefined {
  return Object.hasOwn(routes, name) ? routes[name] : undefined;
}

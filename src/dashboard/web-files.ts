import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPath, readRequestUrl } from '../http/request-url.ts';
import { embeddedFiles } from './embedded-files.ts';
import { isPage } from './page-paths.ts';

/** Serves the dashboard's files: the page itself for every URL that is not a file, and its assets under `/assets`. */
export interface WebFiles {
  /** The status is 404 where there is no such page. The page says so to people, the status to crawlers and monitors. */
  page(request: Request): Response;
  /** Returns undefined if there is no such file. */
  asset(request: Request): Response | undefined;
}

/** The folders of the built files, relative to the sources and to the bundle. */
const BUILT_FOLDERS = ['../../dist/web', '../web'].map((path) => resolve(import.meta.dirname, path));
const PAGE = 'index.html';
/** File names contain a hash of the content, so a file never changes under its name. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Pages load scripts, styles and fonts from this origin only, and cannot be framed by other sites. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), publickey-credentials-get=(self)',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** API responses are for our own pages only: other sites cannot display, embed or load them. */
export const API_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
} as const;

/** Returns the HSTS header if the service is reached over HTTPS. */
export function strictTransport(publicUrl: string): Readonly<Record<string, string>> {
  return publicUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {};
}

const NOT_BUILT =
  'The dashboard is not built. Start the service with `npm start`, or run `npx bun scripts/build-web.ts` once.\nThe gate itself works: point your client at /v1.\n';

/** Opens the built files, inside the executable or in dist/web. */
export function openWebFiles(publicUrl = ''): WebFiles {
  const files = embeddedFiles ?? readFolder(BUILT_FOLDERS.find((folder) => existsSync(folder)));
  return {
    page: (request) => {
      const location = ownAddress(request, publicUrl);
      if (location !== undefined) return new Response(null, { status: 307, headers: { location, 'cache-control': 'no-store' } });
      const headers = { ...PAGE_HEADERS, ...strictTransport(publicUrl), 'cache-control': 'no-cache' };
      const status = isPage(readPath(request)) ? 200 : 404;
      return send(files, PAGE, { request, headers, status }) ?? new Response(NOT_BUILT, { status: 503, headers });
    },
    asset: (request) => {
      const name = readRequestUrl(request)?.pathname.slice('/assets/'.length) ?? '';
      const headers = { 'x-content-type-options': 'nosniff', 'cache-control': IMMUTABLE };
      return send(files, name, { request, headers });
    },
  };
}

/** All of them lead to this machine. */
const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0']);

/**
 * Returns where to send a browser that opened `http://localhost:8787` while the public address is `http://127.0.0.1:8787`, or the other
 * way round. Changes are accepted only from pages at the public address.
 */
function ownAddress(request: Request, publicUrl: string): string | undefined {
  const opened = readRequestUrl(request);
  const own = URL.parse(publicUrl);
  if (opened === undefined || own === null || opened.hostname === own.hostname || opened.port !== own.port) return undefined;
  const areLocal = LOCAL_NAMES.has(opened.hostname) && LOCAL_NAMES.has(own.hostname);
  return areLocal ? `${own.origin}${opened.pathname}${opened.search}` : undefined;
}

/** Maps file names to paths. Only names in this map are served, so no path from a client reaches the disk. */
function readFolder(folder: string | undefined): ReadonlyMap<string, string> {
  if (folder === undefined) return new Map();
  return new Map(readdirSync(folder).map((name) => [name, join(folder, name)]));
}

interface Sending {
  readonly request: Request;
  readonly headers: Readonly<Record<string, string>>;
  readonly status?: number;
}

function send(files: ReadonlyMap<string, string>, name: string, { request, headers, status = 200 }: Sending): Response | undefined {
  const plain = files.get(name);
  if (plain === undefined) return undefined;
  const accepted = request.headers.get('accept-encoding') ?? '';
  const type = Bun.file(name).type;
  for (const [encoding, ending] of ENCODINGS) {
    const packed = files.get(name + ending);
    if (packed === undefined || !accepted.includes(encoding)) continue;
    return new Response(Bun.file(packed), {
      status,
      headers: { ...headers, 'content-type': type, 'content-encoding': encoding, vary: 'accept-encoding' },
    });
  }
  return new Response(Bun.file(plain), { status, headers: { ...headers, 'content-type': type, vary: 'accept-encoding' } });
}

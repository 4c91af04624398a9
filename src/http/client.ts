import { Connection, type ConnectionEvents, type Job, type Origin } from './connection.ts';
import { Exchange } from './exchange.ts';

/** A request to send. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The options of the client. */
export interface ClientOptions {
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string;
  /** How long an idle connection is kept. */
  readonly idleMs?: number;
}

/** Shorter than most servers keep an idle connection, and far shorter than the important ones do. */
const IDLE_MS = 30_000;
/** How much earlier than its server's own limit a connection is closed, because a request takes time to arrive. */
const KEEP_MARGIN_MS = 1000;
/** A host name may resolve to another address after a while; an open connection stays with the old one. */
const AGE_MS_MAX = 300_000;
const IDLE_MAX = 256;
/** How many connections to one origin may be opening at once. An opening connection cannot be cancelled. */
const OPENING_MAX = 4096;
const SWEEP_MS = 5000;
/** URLs come from the settings, so there are few. The limit guards against a future change of that. */
const ENDPOINTS_MAX = 1000;

/** Tells a provider that is itself a gate how many gates the request has passed, so that loops are detected. */
export const HOP_HEADER = 'x-tollgate-hop';
const FIRST_HOP = `${HOP_HEADER}: 1\r\n`;

/** Sends requests over connections that are kept and reused. */
export class HttpClient {
  readonly #options: ClientOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #sweeper: ReturnType<typeof setInterval>;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(SWEEP_MS, options.idleMs ?? IDLE_MS)).unref();
  }

  /** Sends a POST request. `onConnected` runs when it goes out. */
  post(request: HttpRequest, onConnected: () => void): Exchange {
    const endpoint = this.#endpoint(request.url);
    const exchange = new Exchange(onConnected);
    endpoint.pool.send({ bytes: encodeRequest(request, endpoint.lines), exchange });
    return exchange;
  }

  /** Sends a GET request. Otherwise like `post`. */
  get({ url, headers }: Omit<HttpRequest, 'body'>, onConnected: () => void): Exchange {
    const { pool, lines } = this.#endpoint(url);
    const exchange = new Exchange(onConnected);
    pool.send({ bytes: encodeRequest({ url, headers, body: '' }, lines.replace(/^POST/, 'GET')), exchange });
    return exchange;
  }

  /** Closes every idle connection, and keeps none from now on. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const pool of this.#pools.values()) pool.close();
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const pool of this.#pools.values()) pool.sweep(nowMs);
  }

  #endpoint(url: string): Endpoint {
    const known = this.#endpoints.get(url);
    if (known !== undefined) return known;
    const { protocol, hostname, host, port, pathname, search } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError('A URL must begin with http: or https:');
    const isSecure = protocol === 'https:';
    const origin = `${protocol}//${host}`;
    const pool =
      this.#pools.get(origin) ??
      new Pool({
        origin: {
          host: hostname.replace(/^\[|\]$/g, ''),
          port: port === '' ? (isSecure ? 443 : 80) : Number(port),
          isSecure,
          ca: this.#options.ca,
        },
        idleMs: this.#options.idleMs ?? IDLE_MS,
      });
    this.#pools.set(origin, pool);
    const endpoint = { pool, lines: `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept-encoding: identity\r\n${FIRST_HOP}` };
    if (this.#endpoints.size >= ENDPOINTS_MAX) this.#endpoints.clear();
    this.#endpoints.set(url, endpoint);
    return endpoint;
  }
}

interface Endpoint {
  readonly pool: Pool;
  /** The first lines of a request's head, up to the headers that vary. */
  readonly lines: string;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Encodes the request for the wire. A header that could begin a new line is refused. */
function encodeRequest({ headers, body }: HttpRequest, lines: string): Buffer {
  let head = headers[HOP_HEADER] === undefined ? lines : lines.replace(FIRST_HOP, '');
  for (const name in headers) {
    const value = headers[name] ?? '';
    // The value may be a secret, so it is not repeated.
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) throw new TypeError(`The header '${name}' cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  const bodyBytes = Buffer.byteLength(body);
  head += `content-length: ${bodyBytes}\r\n\r\n`;
  // Written in place: a body may be long, and joining it to its head would copy it once more.
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 'latin1');
  bytes.write(body, head.length);
  return bytes;
}

/** The connections to one origin. */
class Pool implements ConnectionEvents {
  readonly #origin: Origin;
  readonly #idleMs: number;
  /** The most recently used connection is reused first, so that the others can expire. */
  readonly #idle: Connection[] = [];
  readonly #opening = new Set<Connection>();
  #isClosed = false;

  constructor({ origin, idleMs }: { readonly origin: Origin; readonly idleMs: number }) {
    this.#origin = origin;
    this.#idleMs = idleMs;
  }

  send(job: Job): void {
    const nowMs = performance.now();
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.expiresAtMs > nowMs) return kept.carry(job);
      kept.close();
    }
    this.#open(job);
  }

  sweep(nowMs: number): void {
    for (const connection of this.#idle.filter(({ expiresAtMs }) => expiresAtMs <= nowMs)) connection.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#idle.slice()) connection.close();
  }

  onOpen(connection: Connection): void {
    this.#opening.delete(connection);
  }

  onFree(connection: Connection): void {
    const nowMs = performance.now();
    const keepMs = Math.min(this.#idleMs, (connection.keepMs ?? Number.POSITIVE_INFINITY) - KEEP_MARGIN_MS);
    connection.expiresAtMs = Math.min(nowMs + keepMs, connection.openedAtMs + AGE_MS_MAX);
    if (this.#isClosed || this.#idle.length >= IDLE_MAX || connection.expiresAtMs <= nowMs) connection.close();
    else this.#idle.push(connection);
  }

  onGone(connection: Connection): void {
    this.#opening.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  onResend(job: Job): void {
    this.#open(job);
  }

  /** Opens a new connection for the request: none is idle, or the idle one was closed while the request was on its way. */
  #open(job: Job): void {
    if (this.#opening.size >= OPENING_MAX) {
      job.exchange.onFailure(new Error('Too many connections to this origin are being opened'));
      return;
    }
    const connection = new Connection(this.#origin, this);
    this.#opening.add(connection);
    connection.open(job);
  }
}

import { GatewayError } from '../errors.ts';
import { Connection, type ConnectionEvents, type Job, type Origin } from './connection.ts';
import { type ConnectWatcher, Exchange } from './exchange.ts';

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
  /** How many connections one origin may have, and how many more requests may wait for one. Only tests change it. */
  readonly connectionsMax?: number;
}

/** Shorter than most servers keep an idle connection, and far shorter than the important ones do. */
const IDLE_MS = 30_000;
/** How much earlier than its server's own limit a connection is closed, because a request takes time to arrive. */
const KEEP_MARGIN_MS = 1000;
/** A host name may resolve to another address after a while; an open connection stays with the old one. */
const AGE_MS_MAX = 300_000;
const IDLE_MAX = 256;
/** Otherwise one provider that hangs could take every socket of the process. */
const CONNECTIONS_MAX = 1024;
/** How many connections that nobody waits for any more may still be opening. An opening connection cannot be cancelled. */
const ABANDONED_MAX = 4096;
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

  /** Sends a POST request. */
  post(request: HttpRequest, watcher?: ConnectWatcher): Exchange {
    const endpoint = this.#endpoint(request.url);
    const exchange = new Exchange(watcher);
    endpoint.pool.send({ bytes: encodeRequest(request, endpoint.lines), exchange });
    return exchange;
  }

  /** Sends a GET request. Otherwise like `post`. */
  get({ url, headers }: Omit<HttpRequest, 'body'>, watcher?: ConnectWatcher): Exchange {
    const { pool, lines } = this.#endpoint(url);
    const exchange = new Exchange(watcher);
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
        connectionsMax: this.#options.connectionsMax ?? CONNECTIONS_MAX,
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
    head = `${head}${name}: ${value}\r\n`;
  }
  const bodyBytes = Buffer.byteLength(body);
  head = `${head}content-length: ${bodyBytes}\r\n\r\n`;
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
  readonly #connections = new Set<Connection>();
  readonly #connectionsMax: number;
  /** Connections that are opening although their request has ended. They do not count: a server that comes back must be reached at once. */
  readonly #abandoned = new Set<Connection>();
  /** Requests for which no connection is free. The deadline for connecting ends their wait. */
  readonly #waiting = new Set<Job>();
  #isClosed = false;

  constructor({ origin, idleMs, connectionsMax }: { readonly origin: Origin; readonly idleMs: number; readonly connectionsMax: number }) {
    this.#origin = origin;
    this.#idleMs = idleMs;
    this.#connectionsMax = connectionsMax;
  }

  send(job: Job): void {
    const nowMs = performance.now();
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.expiresAtMs > nowMs) return kept.carry(job);
      kept.close();
    }
    if (this.#connections.size < this.#connectionsMax) this.#open(job);
    else this.#wait(job);
  }

  sweep(nowMs: number): void {
    for (const connection of this.#idle.filter(({ expiresAtMs }) => expiresAtMs <= nowMs)) connection.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#idle.slice()) connection.close();
  }

  onAbandoned(connection: Connection): void {
    this.#connections.delete(connection);
    this.#abandoned.add(connection);
    this.#serveNext();
  }

  onFree(connection: Connection): void {
    if (this.#abandoned.delete(connection)) this.#connections.add(connection);
    const nowMs = performance.now();
    const keepMs = Math.min(this.#idleMs, (connection.keepMs ?? Number.POSITIVE_INFINITY) - KEEP_MARGIN_MS);
    connection.expiresAtMs = Math.min(nowMs + keepMs, connection.openedAtMs + AGE_MS_MAX);
    if (connection.expiresAtMs <= nowMs) return connection.close();
    const next = this.#takeWaiting();
    if (next !== undefined) connection.carry(next);
    else if (this.#isClosed || this.#idle.length >= IDLE_MAX) connection.close();
    else this.#idle.push(connection);
  }

  onGone(connection: Connection): void {
    this.#abandoned.delete(connection);
    this.#connections.delete(connection);
    // Not at once: if the connection's own request is sent again, that comes first.
    if (this.#waiting.size > 0) queueMicrotask(() => this.#serveNext());
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  onResend(job: Job): void {
    this.#open(job);
  }

  #wait(job: Job): void {
    if (this.#waiting.size >= this.#connectionsMax) return job.exchange.onFailure(crowded());
    this.#waiting.add(job);
    // What ends the wait is the deadline for connecting, unless nobody wants an answer any more. The provider itself may well be reachable.
    const cancel = (): void => {
      this.#waiting.delete(job);
      job.exchange.onFailure(crowded());
    };
    job.exchange.attach({ pause: () => undefined, resume: () => undefined, cancel });
  }

  #takeWaiting(): Job | undefined {
    const { value: job } = this.#waiting.values().next();
    if (job !== undefined) this.#waiting.delete(job);
    return job;
  }

  /** Opens a connection for the request that has waited longest, if there may be one more. */
  #serveNext(): void {
    const next = this.#connections.size < this.#connectionsMax ? this.#takeWaiting() : undefined;
    if (next !== undefined) this.#open(next);
  }

  /** Opens a new connection for the request: none is idle, or the idle one was closed while the request was on its way. */
  #open(job: Job): void {
    if (this.#abandoned.size >= ABANDONED_MAX) {
      job.exchange.onFailure(new Error('Too many connections to this origin are being opened'));
      return;
    }
    const connection = new Connection(this.#origin, this);
    this.#connections.add(connection);
    connection.open(job);
  }
}

/** The failure of a request that no connection is left for. It is that of a provider that takes no more, so another route is tried. */
function crowded(): GatewayError {
  return new GatewayError(
    'provider_rate_limited',
    'Too many requests to the provider of this model are in progress. Please try again later.',
    {
      retryAfterSeconds: 1,
    },
  );
}

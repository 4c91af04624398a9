import { Connection, type ConnectionEvents, type Job, type Origin } from './connection.ts';
import { Exchange } from './exchange.ts';

/** A request as the caller of the client writes it. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ClientOptions {
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string;
  /** How long a quiet connection is kept. */
  readonly idleMs?: number;
}

/** Shorter than most servers keep a quiet connection, and far shorter than most that matter. */
const IDLE_MS = 30_000;
/** A server that tells its own time is left this much earlier, for a request takes time to arrive. */
const KEEP_MARGIN_MS = 1000;
/** A name may lead elsewhere after a while; a connection never does. */
const AGE_MS_MAX = 300_000;
const IDLE_MAX = 256;
/** A connection that is being opened cannot be called back; this many may be on their way to one place. */
const OPENING_MAX = 4096;
const SWEEP_MS = 5000;
/** Addresses come from the settings, so there are few; the limit is there for whoever changes that. */
const TARGETS_MAX = 1000;

/** Tells a provider that is a gate itself through how many its request has come, so that one which leads back to itself is found out. */
export const HOP_HEADER = 'x-tollgate-hop';
const FIRST_HOP = `${HOP_HEADER}: 1\r\n`;

/** Posts requests over connections that are kept and used again. */
export class HttpClient {
  readonly #options: ClientOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #targets = new Map<string, Target>();
  readonly #sweeper: ReturnType<typeof setInterval>;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(SWEEP_MS, options.idleMs ?? IDLE_MS)).unref();
  }

  /** Sends a request; `onConnected` hears when it goes out. */
  post(request: HttpRequest, onConnected: () => void): Exchange {
    const target = this.#target(request.url);
    const exchange = new Exchange(onConnected);
    target.pool.send({ bytes: encodeRequest(request, target.lines), exchange });
    return exchange;
  }

  /** Asks for a document; otherwise as `post`. */
  get({ url, headers }: Omit<HttpRequest, 'body'>, onConnected: () => void): Exchange {
    const { pool, lines } = this.#target(url);
    const exchange = new Exchange(onConnected);
    pool.send({ bytes: encodeRequest({ url, headers, body: '' }, lines.replace(/^POST/, 'GET')), exchange });
    return exchange;
  }

  /** Closes every quiet connection and keeps none from now on. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const pool of this.#pools.values()) pool.close();
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const pool of this.#pools.values()) pool.sweep(nowMs);
  }

  #target(url: string): Target {
    const known = this.#targets.get(url);
    if (known !== undefined) return known;
    const { protocol, hostname, host, port, pathname, search } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError('An address must begin with http: or https:');
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
    const target = { pool, lines: `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept-encoding: identity\r\n${FIRST_HOP}` };
    if (this.#targets.size >= TARGETS_MAX) this.#targets.clear();
    this.#targets.set(url, target);
    return target;
  }
}

interface Target {
  readonly pool: Pool;
  /** The first lines of a request's head, up to the headers that differ. */
  readonly lines: string;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** The request as it goes over the wire. A header that would begin a line of its own is refused. */
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
  // Written in place: a body may be long, and joined to its head it would be copied once more.
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 'latin1');
  bytes.write(body, head.length);
  return bytes;
}

/** The connections to one place. */
class Pool implements ConnectionEvents {
  readonly #origin: Origin;
  readonly #idleMs: number;
  /** The one used last is used next, so that the others can grow old. */
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
    this.onUnheard(job);
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

  /** A new connection for the request: there is no kept one, or the kept one was closed as the request was on its way. */
  onUnheard(job: Job): void {
    if (this.#opening.size >= OPENING_MAX) {
      job.exchange.onFailure(new Error('Too many connections to this place are being opened'));
      return;
    }
    const connection = new Connection(this.#origin, this);
    this.#opening.add(connection);
    connection.open(job);
  }
}

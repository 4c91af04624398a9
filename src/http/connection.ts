import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { ByteSource, Exchange } from './exchange.ts';
import { ResponseParser, type ResponseEvents, type ResponseHead } from './response-parser.ts';

/** Where a connection leads, and whom it trusts there. */
export interface Origin {
  /** A name or an address, the latter without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca: string | undefined;
}

/** A request in its wire form, and the exchange that waits for its response. */
export interface Job {
  readonly bytes: Buffer;
  readonly exchange: Exchange;
}

/** Hears what becomes of a connection. */
export interface ConnectionEvents {
  /** It is open, and its certificate is good. */
  onOpen(connection: Connection): void;
  /** It has carried a response to its end and may carry another. */
  onFree(connection: Connection): void;
  /** It is gone, or never came to be. */
  onGone(connection: Connection): void;
  /** It was closed at a moment when the other side may well not have seen the request: nothing of a response had come. */
  onUnheard(job: Job): void;
}

/** One connection on the runtime's own sockets. It carries one request at a time. */
export class Connection implements ByteSource, ResponseEvents {
  readonly openedAtMs = performance.now();
  /** When it is too old to be trusted with another request. */
  expiresAtMs = Number.POSITIVE_INFINITY;
  readonly #origin: Origin;
  readonly #events: ConnectionEvents;
  readonly #parser = new ResponseParser(this);
  #socket: Bun.Socket<Connection> | undefined;
  #state: 'opening' | 'free' | 'busy' | 'gone' = 'opening';
  #exchange: Exchange | undefined;
  /** The request, until something is heard of its response: from then on it is never sent again. */
  #request: Buffer | undefined;
  #unsent: Buffer | undefined;
  #hasServed = false;
  #isPaused = false;

  static readonly #handlers: Bun.SocketHandler<Connection> = {
    open: (socket) => socket.data.#onSocket(socket),
    handshake: (socket, _, failure) => socket.data.#onHandshake(socket, failure),
    data: (socket, bytes) => socket.data.#onData(bytes),
    drain: (socket) => socket.data.#flush(),
    end: (socket) => socket.data.#onFinished(),
    close: (socket, failure) => socket.data.#lose(failure ?? new Error('The connection was closed')),
    error: (socket, failure) => socket.data.#fail(failure),
    connectError: (socket, failure) => socket.data.#lose(failure),
  };

  constructor(origin: Origin, events: ConnectionEvents) {
    this.#origin = origin;
    this.#events = events;
  }

  /** How long the other side says that it keeps a quiet connection. */
  get keepMs(): number | undefined {
    return this.#parser.keepMs;
  }

  /** Opens the connection for a request that waits. */
  open(job: Job): void {
    this.#take(job);
    const { host, port, isSecure, ca } = this.#origin;
    // A server name must not be an address; the certificate is compared with the address all the same.
    const tls = { ...(ca === undefined ? {} : { ca }), ...(isIP(host) === 0 ? { serverName: host } : {}) };
    const options = { hostname: host, port, data: this, socket: Connection.#handlers };
    try {
      // A failure is told to `connectError` too, whichever is first.
      Bun.connect<Connection>(isSecure ? { ...options, tls } : options).catch((failure: unknown) => this.#lose(failure));
    } catch (error) {
      this.#lose(error);
    }
  }

  /** Sends a request. Only a free connection takes one. */
  carry(job: Job): void {
    this.#take(job);
    this.#state = 'busy';
    this.#unsent = job.bytes;
    this.#parser.begin();
    job.exchange.onConnected();
    this.#flush();
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket?.resume();
  }

  /** The exchange is over before its response is. While the socket is not there yet it cannot be closed; it is kept instead. */
  cancel(): void {
    this.#exchange = undefined;
    this.#request = undefined;
    if (this.#socket !== undefined) this.#fail(undefined);
  }

  /** Closes a connection that carries nothing. */
  close(): void {
    this.#lose(undefined);
    this.#socket?.end();
  }

  onHead(head: ResponseHead): void {
    this.#exchange?.onHead(head);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#exchange?.onBody(bytes, start, end);
  }

  onEnd(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (this.#state !== 'busy') return;
    this.#state = 'free';
    this.#hasServed = true;
    if (this.#isPaused) this.resume();
    // A server that answers before it has read everything would take the rest for the next request.
    if (this.#parser.isLasting && this.#unsent === undefined) this.#events.onFree(this);
    else this.close();
    exchange?.onEnd();
  }

  #take({ bytes, exchange }: Job): void {
    this.#request = bytes;
    this.#exchange = exchange;
    exchange.attach(this);
  }

  #onSocket(socket: Bun.Socket<Connection>): void {
    this.#socket = socket;
    if (!this.#origin.isSecure) this.#onOpen();
  }

  /** The runtime verifies chain and name; a connection whose every doubt is not cleared is closed before a byte is sent. */
  #onHandshake(socket: Bun.Socket<Connection>, failure: Error | null): void {
    this.#socket = socket;
    if (this.#state !== 'opening') return;
    const doubt = failure ?? (socket.authorized ? checkServerIdentity(this.#origin.host, socket.getPeerCertificate()) : undefined);
    if (doubt !== undefined || !socket.authorized) this.#fail(doubt ?? new Error('The certificate could not be verified'));
    else this.#onOpen();
  }

  #onOpen(): void {
    this.#state = 'free';
    this.#events.onOpen(this);
    if (this.#request !== undefined && this.#exchange !== undefined) this.carry({ bytes: this.#request, exchange: this.#exchange });
    else this.#events.onFree(this);
  }

  #onData(bytes: Buffer): void {
    this.#request = undefined;
    try {
      this.#parser.push(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The other side has sent its last byte. Where nothing but that tells the end of a response, this is it. */
  #onFinished(): void {
    try {
      if (this.#request === undefined) this.#parser.close();
    } catch (error) {
      this.#fail(error);
    }
  }

  #flush(): void {
    if (this.#unsent === undefined || this.#socket === undefined) return;
    const written = this.#socket.write(this.#unsent);
    // A socket that is closed already takes nothing; that it is closed will be told.
    if (written >= this.#unsent.length) this.#unsent = undefined;
    else if (written > 0) this.#unsent = this.#unsent.subarray(written);
  }

  #fail(failure: unknown): void {
    this.#lose(failure);
    this.#socket?.terminate();
  }

  #lose(failure: unknown): void {
    if (this.#state === 'gone') return;
    const exchange = this.#exchange;
    const request = this.#request;
    this.#state = 'gone';
    this.#exchange = this.#request = this.#unsent = undefined;
    this.#events.onGone(this);
    if (exchange === undefined || exchange.isOver) return;
    if (request !== undefined && this.#hasServed) this.#events.onUnheard({ bytes: request, exchange });
    else exchange.onFailure(failure ?? new Error('The connection was closed'));
  }
}

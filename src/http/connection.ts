import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { ByteSource, Exchange } from './exchange.ts';
import { ResponseParser, type ResponseEvents, type ResponseHead } from './response-parser.ts';

/** The destination of a connection, and the certificates it trusts. */
export interface Origin {
  /** A host name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca: string | undefined;
}

/** A request encoded for the wire, and the exchange that waits for its response. */
export interface Job {
  readonly bytes: Buffer;
  readonly exchange: Exchange;
}

/** Receives the events of a connection. */
export interface ConnectionEvents {
  /** Its request has ended before it was open. */
  onAbandoned(connection: Connection): void;
  /** It has carried a response to its end and may carry another. */
  onFree(connection: Connection): void;
  /** It is closed, or could not be opened. */
  onGone(connection: Connection): void;
  /** It was closed before any byte of a response, so the server may well not have seen the request, which can be sent again. */
  onResend(job: Job): void;
}

/** One connection on the runtime's own sockets. It carries one request at a time. */
export class Connection implements ByteSource, ResponseEvents {
  readonly openedAtMs = performance.now();
  /** When it is too old for another request. */
  expiresAtMs = Number.POSITIVE_INFINITY;
  readonly #origin: Origin;
  readonly #events: ConnectionEvents;
  readonly #parser = new ResponseParser(this);
  #socket: Bun.Socket<Connection> | undefined;
  #state: 'opening' | 'free' | 'busy' | 'gone' = 'opening';
  #exchange: Exchange | undefined;
  /** The request, until the first byte of its response. From then on it is never sent again. */
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

  /** How long the server says it keeps an idle connection. */
  get keepMs(): number | undefined {
    return this.#parser.keepMs;
  }

  /** Opens the connection for a waiting request. */
  open(job: Job): void {
    this.#take(job);
    const { host, port, isSecure, ca } = this.#origin;
    // TLS does not allow an IP address as server name. The certificate is compared with the address all the same.
    const tls = { ...(ca === undefined ? {} : { ca }), ...(isIP(host) === 0 ? { serverName: host } : {}) };
    const options = { hostname: host, port, data: this, socket: Connection.#handlers };
    try {
      // `connectError` receives a failure too, whichever comes first.
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

  /** Ends the exchange before its response is complete. A socket that is not open yet cannot be closed; it is kept instead. */
  cancel(): void {
    this.#exchange = undefined;
    this.#request = undefined;
    if (this.#socket !== undefined) this.#fail(undefined);
    else if (this.#state === 'opening') this.#events.onAbandoned(this);
  }

  /** Closes an idle connection. */
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
    // A server that answers before it has read the whole request would take the rest for the next one.
    if (this.#parser.isReusable && this.#unsent === undefined) this.#events.onFree(this);
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

  /** Checks the certificate. The runtime verifies chain and name; on any remaining problem the connection is closed before a byte is sent. */
  #onHandshake(socket: Bun.Socket<Connection>, failure: Error | null): void {
    this.#socket = socket;
    if (this.#state !== 'opening') return;
    const problem = failure ?? (socket.authorized ? checkServerIdentity(this.#origin.host, socket.getPeerCertificate()) : undefined);
    if (problem !== undefined || !socket.authorized) this.#fail(problem ?? new Error('The certificate could not be verified'));
    else this.#onOpen();
  }

  #onOpen(): void {
    this.#state = 'free';
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

  /** Handles the server's end of transmission. For a response without a length, it marks the end. */
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
    // A socket that is already closed takes nothing; its close event follows.
    if (written >= this.#unsent.length) this.#unsent = undefined;
    else if (written > 0) this.#unsent = this.#unsent.subarray(written);
  }

  /** Cuts the connection. */
  #fail(failure: unknown): void {
    this.#lose(failure);
    this.#socket?.terminate();
  }

  /** Notes that the connection is gone. A request that it carried is sent again where that is safe, and has failed otherwise. */
  #lose(failure: unknown): void {
    if (this.#state === 'gone') return;
    const exchange = this.#exchange;
    const request = this.#request;
    this.#state = 'gone';
    this.#exchange = this.#request = this.#unsent = undefined;
    this.#events.onGone(this);
    if (exchange === undefined || exchange.isOver) return;
    if (request !== undefined && this.#hasServed) this.#events.onResend({ bytes: request, exchange });
    else exchange.onFailure(failure ?? new Error('The connection was closed'));
  }
}

import { ClientConnection, type ConnectionOwner } from './client-connection.ts';
import { ConnectionCount } from './connection-count.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { IncomingRequest } from './incoming.ts';
import { matchRoute } from './match-route.ts';
import { OutgoingStream } from './outgoing-stream.ts';
import type { Outgoing } from './outgoing.ts';
import { ProtocolError } from './protocol-error.ts';
import { sendStandard } from './standard-reply.ts';

/** What a handler may know about the connection that a request came over. */
export interface Arrival {
  /** The route that matched. It contains no part that the client chose, so it may be logged. */
  readonly route: string;
  /** Returns the address at the other end of the connection. */
  address(): string;
}

/** A request's arrival over a connection of this server. */
class ConnectionArrival implements Arrival {
  readonly route: string;
  readonly #connection: ClientConnection;

  constructor(route: string, connection: ClientConnection) {
    this.route = route;
    this.#connection = connection;
  }

  address(): string {
    return this.#connection.address;
  }
}

/** Answers a request, in our own form or, where speed does not matter, in the standard one. */
export type Handler = (request: IncomingRequest, arrival: Arrival) => Outgoing | Response | Promise<Outgoing | Response>;

/** A listening server. */
export interface RunningServer {
  readonly port: number;
  /** Stops accepting connections. With `true`, also cuts open ones. */
  stop(force: boolean): Promise<void>;
}

interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: Readonly<Record<string, Handler>>;
  /** Counts what clients have not read yet. */
  readonly held: HeldBytes;
  /** Answers requests whose handler has failed. */
  readonly onError: (error: unknown) => Outgoing;
  /** Answers bytes that are not a request. */
  readonly onMalformed: (problem: string) => Outgoing;
}

/** How often limits of time are checked, and how often the `date` header changes. */
const TICK_MS = 1000;

/** Starts the HTTP server. */
export function startServer(options: ServerOptions): RunningServer {
  return new Server(options);
}

/** The HTTP/1.1 server. It listens on the runtime's sockets: see docs/decisions/2026-11-19-own-http-server.md. */
class Server implements RunningServer, ConnectionOwner {
  nowMs = performance.now();
  date = new Date().toUTCString();
  readonly held: HeldBytes;
  readonly #options: ServerOptions;
  readonly #connections = new Set<ClientConnection>();
  readonly #count = new ConnectionCount();
  readonly #listener: Bun.TCPSocketListener<ClientConnection>;
  readonly #clock: ReturnType<typeof setInterval>;
  /** Resolved when the last connection has closed after the server was stopped. */
  #whenEmpty: PromiseWithResolvers<void> | undefined;

  constructor(options: ServerOptions) {
    this.held = options.held;
    this.#options = options;
    this.#listener = this.#listen();
    this.#clock = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  get port(): number {
    return this.#listener.port;
  }

  async stop(force: boolean): Promise<void> {
    this.#listener.stop(false);
    for (const connection of this.#connections) {
      if (force) connection.cut();
      else connection.finish();
    }
    if (this.#connections.size > 0) {
      this.#whenEmpty ??= Promise.withResolvers();
      await this.#whenEmpty.promise;
    }
    clearInterval(this.#clock);
  }

  answer(request: IncomingRequest, connection: ClientConnection): void {
    try {
      const route = matchRoute(this.#options.routes, request);
      const answer = route.handler(request, new ConnectionArrival(route.pattern, connection));
      void this.#reply(request, connection, answer);
    } catch (error) {
      connection.reply(request, this.refuse(error));
    }
  }

  refuse(error: unknown): Outgoing {
    const { onError, onMalformed } = this.#options;
    return error instanceof ProtocolError ? onMalformed(error.message) : onError(error);
  }

  onClosed(connection: ClientConnection): void {
    this.#connections.delete(connection);
    this.#count.remove(connection.address);
    if (this.#connections.size === 0) this.#whenEmpty?.resolve();
  }

  async #reply(request: IncomingRequest, connection: ClientConnection, answering: ReturnType<Handler>): Promise<void> {
    try {
      const answer = await answering;
      if (answer instanceof Response) await sendStandard(answer, request, connection);
      else if (!connection.reply(request, answer) && answer.body instanceof OutgoingStream) answer.body.onGone();
    } catch (error) {
      // A handler that fails because its client has gone has not failed.
      if (!request.aborted) connection.reply(request, this.refuse(error));
    }
  }

  #tick(): void {
    this.nowMs = performance.now();
    this.date = new Date().toUTCString();
    for (const connection of this.#connections) if (connection.cutAtMs <= this.nowMs) connection.cut();
  }

  #listen(): Bun.TCPSocketListener<ClientConnection> {
    const { host, port } = this.#options;
    try {
      return Bun.listen<ClientConnection>({
        hostname: host,
        port,
        // A second server on the same port would silently take half of the connections.
        exclusive: true,
        socket: {
          open: (socket) => {
            socket.data = new ClientConnection(socket, this);
            this.#connections.add(socket.data);
            if (!this.#count.add(socket.data.address)) socket.data.cut();
          },
          data: (socket, bytes) => socket.data.onData(bytes),
          drain: (socket) => socket.data.onDrain(),
          close: (socket) => socket.data.onClose(),
          error: (socket, error) => {
            this.#options.onError(error);
            socket.data.cut();
          },
        },
      });
    } catch (error) {
      throw explain(this.#options, error);
    }
  }
}

/** Explains why the server cannot listen. The runtime's own message names no address and, for an unknown name, speaks of a file. */
function explain({ host, port }: ServerOptions, cause: unknown): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const why = LISTEN_PROBLEMS[code] ?? `HOST must be an address of this machine (${code}).`;
  return new Error(`Cannot listen on ${host}, port ${port}. ${why}`, { cause });
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Something else listens there: stop it, or set PORT to another one.',
  EACCES: 'The system does not allow it: set PORT to 1024 or more.',
};

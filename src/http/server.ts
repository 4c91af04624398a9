/** What a handler may know and do about the connection that a request came over. */
export interface ClientConnection {
  /** The route that matched. It contains no part that the client chose, so it may be logged. */
  readonly route: string;
  readonly setIdleTimeout: (seconds: number) => void;
  /** Returns the address at the other end of the connection. */
  readonly address: () => string;
}

/** Answers a request. */
export type Handler = (request: Request, connection: ClientConnection) => Response | Promise<Response>;

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
  /** Answers requests that the runtime could not hand to a route. */
  readonly onError: (error: unknown) => Response;
}

/** Longer than load balancers keep idle connections, so that they close first and no request meets a closed connection. */
export const IDLE_SECONDS = 75;
const IDLE_SECONDS_MAX = 255;
/** The size is checked where the body is read, with an error that the client understands. */
const BODY_BYTES_UNCHECKED = Number.MAX_SAFE_INTEGER;

/** Starts the HTTP server of this runtime. */
export function startServer(options: ServerOptions): RunningServer {
  const server = listen(options);
  return {
    port: server.port ?? options.port,
    stop: (force) => server.stop(force),
  };
}

function listen(options: ServerOptions): Bun.Server<unknown> {
  try {
    return serve(options);
  } catch (error) {
    throw explain(options, error);
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

function serve(options: ServerOptions): Bun.Server<unknown> {
  return Bun.serve({
    hostname: options.host,
    port: options.port,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: BODY_BYTES_UNCHECKED,
    development: false,
    // A second server on the same port would silently take half of the connections.
    reusePort: false,
    routes: Object.fromEntries(
      Object.entries(options.routes).map(([route, handler]) => [
        route,
        (request: Request, bunServer: Bun.Server<unknown>) => {
          const setIdleTimeout = (seconds: number): void => bunServer.timeout(request, Math.min(IDLE_SECONDS_MAX, Math.ceil(seconds)));
          const address = (): string => bunServer.requestIP(request)?.address ?? '';
          return handler(request, { route, setIdleTimeout, address });
        },
      ]),
    ),
    error: options.onError,
  });
}

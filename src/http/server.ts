/** What a handler may know and do about the connection of a request. */
export interface Connection {
  /** The route that matched: an address without the caller's part of it, so it may be logged. */
  readonly route: string;
  readonly setIdleTimeout: (seconds: number) => void;
  /** The address at the other end of the connection. */
  readonly address: () => string;
}

export type Handler = (request: Request, connection: Connection) => Response | Promise<Response>;

/** A server that listens. */
export interface RunningServer {
  readonly port: number;
  /** Stops taking connections; with `true`, cuts the ones that are open. */
  stop(force: boolean): Promise<void>;
}

interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: Readonly<Record<string, Handler>>;
  /** Answers what the runtime could not even hand to a route. */
  readonly onError: (error: unknown) => Response;
}

/** Longer than load balancers keep idle connections, so that they close them first and no request meets a closed one. */
export const IDLE_SECONDS = 75;
const IDLE_SECONDS_MAX = 255;
/** The size is checked where the body is read, with an answer that the caller understands. */
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

/** The runtime's own words name no address, and for a name that does not exist speak of a file. */
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

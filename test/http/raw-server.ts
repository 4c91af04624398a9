import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A server that sends exactly the bytes it is given. */
export interface RawServer {
  readonly port: number;
  /** `http://127.0.0.1:port`, or `https://localhost:port`. */
  readonly origin: string;
  /** Every complete request, head and body as received. */
  readonly requests: readonly string[];
  /** The number of connections ever made, and the number open. */
  readonly connections: number;
  readonly openConnections: number;
  stop(): void;
}

/** Answers a request. `text` is the request, `index` counts the requests of all connections from 0. */
type Respond = (socket: Socket, index: number, text: string) => void;

interface RawServerOptions {
  readonly host?: string;
  readonly tls?: TlsOptions;
  /** Takes over a connection before anything is read from it. */
  readonly onConnection?: (socket: Socket) => void;
}

/** Listens on a free port of the loopback interface. */
export async function startRawServer(respond: Respond, options: RawServerOptions = {}): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const accept = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    options.onConnection?.(socket);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (let length = requestLength(received); length <= received.length; length = requestLength(received)) {
        requests.push(received.slice(0, length));
        received = received.slice(length);
        respond(socket, requests.length - 1, requests.at(-1) ?? '');
      }
    });
  };
  const server: Server = options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept);
  server.listen(0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: options.tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns the length of the first request, or infinity while it is incomplete. */
function requestLength(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return Number.POSITIVE_INFINITY;
  return headEnd + 4 + Number(/^content-length: (\d+)$/imu.exec(text.slice(0, headEnd))?.[1] ?? 0);
}

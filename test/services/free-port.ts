import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range of outgoing connections, so that the port is not taken while its owner restarts. */
const PORTS = { from: 20_000, count: 10_000 };
const TRIES_MAX = 20;

/** Returns a free port of the loopback interface. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
  throw new Error(`None of ${TRIES_MAX} tried ports is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    // Another program listens there.
    return false;
  } finally {
    server.close();
  }
}

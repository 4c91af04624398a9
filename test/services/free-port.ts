import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, so that nobody takes ours while its owner is down for a moment. */
const PORTS = { from: 20_000, count: 10_000 };
const TRIES_MAX = 20;

/** A port of the loopback interface that nobody listens on. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
  throw new Error(`None of ${TRIES_MAX} ports that were tried is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    // Somebody else listens there.
    return false;
  } finally {
    server.close();
  }
}

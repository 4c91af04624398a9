import { randomBytes } from 'node:crypto';
import { RedisClient } from 'bun';
import { findFreePort } from './free-port.ts';
import { makePrivateFolder, type PrivateProcess } from './private-folder.ts';
import { killTree, signalProcess } from './processes.ts';
import { findProgram } from './program.ts';

/** A Redis server of one suite, which may stop and break it. It stores nothing on disk. */
export interface PrivateRedis {
  readonly url: string;
  /** A new process id after each restart. */
  readonly pid: number;
  /** Kills it (SIGKILL) and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, empty, on the same port. */
  restart(): Promise<void>;
  /** Freezes it: connections stay open and are accepted, but get no response. */
  stall(): void;
  /** Resumes it after `stall`. */
  resume(): void;
  /** Sends it a command as its administrator. */
  send(command: string, ...parameters: readonly string[]): Promise<void>;
  /** Deletes everything, like a failover to an empty replica. */
  flush(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

const CONNECT_WITHIN_MS = 5000;

let program: Promise<string | undefined> | undefined;

/** Returns the path of a Redis server, or undefined if there is none. Searches once. */
export function findRedis(): Promise<string | undefined> {
  program ??= findProgram({
    title: 'Redis',
    names: ['redis-server', 'valkey-server'],
    folders: ['/usr/local/bin', '/opt/homebrew/bin', '/opt/*/bin'],
    debianPackage: 'redis-server',
    variable: 'TEST_REDIS_URL',
  });
  return program;
}

/** Starts an empty server. */
export async function startPrivateRedis(): Promise<PrivateRedis> {
  const redis = await findRedis();
  if (redis === undefined) throw new Error('There is no Redis to start: skip this suite if findRedis() returns undefined.');
  const folder = await makePrivateFolder({ name: 'redis', stopSignal: 'SIGTERM' });
  const password = randomBytes(16).toString('hex');
  const port = await findFreePort();
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const settings = { port, bind: '127.0.0.1', dir: folder.path, save: '""', appendonly: 'no', requirepass: password };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  const settingsFile = await folder.write('redis.conf', lines.join(''));

  const start = (): Promise<PrivateProcess> => folder.start([redis, settingsFile], () => answers(url));
  let server = await start();
  const signal = (name: NodeJS.Signals): void => {
    // The id of an ended process may have been reused.
    if (!server.hasExited()) signalProcess(server.pid, name);
  };
  return {
    url,
    get pid() {
      return server.pid;
    },
    async kill() {
      if (server.hasExited()) return;
      await killTree(server.pid);
      await server.exited;
    },
    async restart() {
      if (!server.hasExited()) throw new Error('The server is still running: kill it first.');
      server = await start();
    },
    stall: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    send: (command, ...parameters) => sendOnce(url, command, parameters),
    flush: () => sendOnce(url, 'FLUSHALL'),
    stop: () => folder.remove(),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    await sendOnce(url, 'PING');
    return true;
  } catch {
    // It is not listening yet.
    return false;
  }
}

async function sendOnce(url: string, command: string, parameters: readonly string[] = []): Promise<void> {
  const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: CONNECT_WITHIN_MS });
  try {
    await client.connect();
    await client.send(command, [...parameters]);
  } finally {
    client.close();
  }
}

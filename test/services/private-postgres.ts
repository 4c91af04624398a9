import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { findFreePort } from './free-port.ts';
import { makePrivateFolder, type PrivateProcess } from './private-folder.ts';
import { killTree } from './processes.ts';
import { findProgram } from './program.ts';

/** A PostgreSQL server of one suite, which may stop and break it. */
export interface PrivatePostgres {
  /** Address of its database `postgres`, as the administrator. */
  readonly url: string;
  /** The server's main process; a new one after each restart. */
  readonly pid: number;
  /** How long the last start took until it accepted a connection, including recovery. */
  readonly readyMs: number;
  /** Kills all its processes (SIGKILL), like a crash, and waits until they are gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with the same data and port. It recovers by itself. */
  restart(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** The oldest supported PostgreSQL. */
export const MAJOR_VERSION_MIN = 15;
const CONNECT_WITHIN_MS = 5000;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Durability after a crash is under test.
  fsync: 'on',
  shared_buffers: '16MB',
  // Shared memory in files is removed with the data folder, even after SIGKILL.
  dynamic_shared_memory_type: 'mmap',
  // On the small tables of tests, compiling a statement takes longer than running it.
  jit: 'off',
};

let program: Promise<string | undefined> | undefined;

/** Returns the path of `postgres`, or undefined if there is none. Searches once. */
export function findPostgres(): Promise<string | undefined> {
  program ??= findProgram({
    title: `PostgreSQL ${MAJOR_VERSION_MIN} or later`,
    names: ['postgres'],
    folders: [
      '/usr/lib/postgresql/*/bin',
      '/usr/pgsql-*/bin',
      '/usr/local/pgsql/bin',
      '/opt/homebrew/opt/postgresql@*/bin',
      '/usr/local/opt/postgresql@*/bin',
      '/Applications/Postgres.app/Contents/Versions/*/bin',
    ],
    debianPackage: 'postgresql',
    variable: 'TEST_DATABASE_URL',
    isFit: (path) => majorVersionOf(path) >= MAJOR_VERSION_MIN,
  });
  return program;
}

/** Starts a server with an empty cluster. */
export async function startPrivatePostgres(): Promise<PrivatePostgres> {
  const postgres = await findPostgres();
  if (postgres === undefined) throw new Error('There is no PostgreSQL to start: skip this suite if findPostgres() returns undefined.');
  // "Immediate shutdown": unlike SIGKILL it releases the shared memory.
  const folder = await makePrivateFolder({ name: 'postgres', stopSignal: 'SIGQUIT' });
  const password = randomBytes(16).toString('hex');
  const cluster = join(folder.path, 'cluster');
  const passwordFile = await folder.write('password', password);
  const access = ['--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  const text = ['--encoding', 'UTF8', '--locale', 'C'];
  await folder.run([findInitdb(postgres), '--pgdata', cluster, ...access, ...text, '--no-sync']);

  const port = await findFreePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const start = async (): Promise<{ server: PrivateProcess; readyMs: number }> => {
    const startedAtMs = performance.now();
    const server = await folder.start([postgres, '-D', cluster, ...settings], () => answers(url));
    return { server, readyMs: performance.now() - startedAtMs };
  };
  let { server, readyMs } = await start();
  return {
    url,
    get pid() {
      return server.pid;
    },
    get readyMs() {
      return readyMs;
    },
    async kill() {
      // The id of an ended process may have been reused.
      if (server.hasExited()) return;
      await killTree(server.pid);
      // The next server checks that this process is gone, and a child is gone only when its parent has noticed.
      await server.exited;
    },
    async restart() {
      if (!server.hasExited()) throw new Error('The server is still running: kill it first.');
      ({ server, readyMs } = await start());
    },
    stop: () => folder.remove(),
  };
}

function majorVersionOf(path: string): number {
  return Number(/ (\d+)/u.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? 0);
}

/** Returns a companion program. The found path may be a link from another folder, so the link is resolved first. */
function findInitdb(postgres: string): string {
  return join(dirname(realpathSync(postgres)), 'initdb');
}

/** Returns true if the database accepts connections. */
export async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  try {
    await client.connect();
    return true;
  } catch {
    // It is not listening yet, or still recovering.
    return false;
  } finally {
    await client.end();
  }
}

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { findFreePort } from './free-port.ts';
import { makePrivateFolder, type PrivateProcess } from './private-folder.ts';
import { killTree } from './processes.ts';
import { findProgram } from './program.ts';

/** A PostgreSQL server that belongs to one suite, which may do to it what it likes. */
export interface PrivatePostgres {
  /** The address of its database `postgres`, with the rights of the administrator. */
  readonly url: string;
  /** The process that started all others of the server; another one after each restart. */
  readonly pid: number;
  /** How long the last start took until a connection was served, recovery included. */
  readonly readyMs: number;
  /** Ends all its processes at once (SIGKILL), as a crash would, and waits until they are gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same data and the same port; it recovers by itself. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** The oldest PostgreSQL that is supported. */
export const MAJOR_VERSION_MIN = 15;
const CONNECT_WITHIN_MS = 5000;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // What a crash leaves is the thing under test.
  fsync: 'on',
  shared_buffers: '16MB',
  // Shared memory in files of the data folder goes with the folder, also after SIGKILL.
  dynamic_shared_memory_type: 'mmap',
  // Compiling a statement takes longer than running it on tables as small as those of tests.
  jit: 'off',
};

let program: Promise<string | undefined> | undefined;

/** The path of `postgres`, or nothing where there is none; looked for once. */
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

/** Starts a server with a fresh, empty cluster of databases. */
export async function startPrivatePostgres(): Promise<PrivatePostgres> {
  const postgres = await findPostgres();
  if (postgres === undefined) throw new Error('There is no PostgreSQL to start: skip this suite when findPostgres() gives nothing.');
  // "Immediate shutdown": unlike SIGKILL it gives the shared memory back to the system.
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
      // The number of a process that has ended may be another's by now.
      if (server.hasExited()) return;
      await killTree(server.pid);
      // The next server looks whether the process of this number is gone, and a child is gone only when its parent has noticed.
      await server.exited;
    },
    async restart() {
      if (!server.hasExited()) throw new Error('The server still runs: kill it first.');
      ({ server, readyMs } = await start());
    },
    stop: () => folder.remove(),
  };
}

function majorVersionOf(path: string): number {
  return Number(/ (\d+)/u.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? 0);
}

/** What was found may be a link in another folder; the companion is beside the program itself. */
function findInitdb(postgres: string): string {
  return join(dirname(realpathSync(postgres)), 'initdb');
}

/** Whether a database takes connections at this address by now. */
export async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  try {
    await client.connect();
    return true;
  } catch {
    // It does not listen yet, or still recovers.
    return false;
  } finally {
    await client.end();
  }
}

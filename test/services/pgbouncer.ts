import { findFreePort } from './free-port.ts';
import { makePrivateFolder } from './private-folder.ts';
import { answers } from './private-postgres.ts';
import { findProgram } from './program.ts';

/** PgBouncer between a test and its PostgreSQL. */
export interface PrivatePgBouncer {
  /** The database's address through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export type PoolMode = 'session' | 'transaction' | 'statement';

let program: Promise<string | undefined> | undefined;

/** Returns the path of PgBouncer, or undefined if there is none. Searches once. */
export function findPgBouncer(): Promise<string | undefined> {
  program ??= Promise.resolve(process.env['TEST_PGBOUNCER']).then(
    (path) =>
      path ??
      findProgram({
        title: 'PgBouncer',
        names: ['pgbouncer'],
        folders: ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'],
        debianPackage: 'pgbouncer',
        variable: 'TEST_PGBOUNCER',
      }),
  );
  return program;
}

/** Starts a pooler in front of this database, with PgBouncer's defaults except for the mode. */
export async function startPgBouncer(databaseUrl: string, mode: PoolMode): Promise<PrivatePgBouncer> {
  const pgbouncer = await findPgBouncer();
  if (pgbouncer === undefined) throw new Error('There is no PgBouncer: skip this suite if findPgBouncer() returns undefined.');
  const folder = await makePrivateFolder({ name: 'pgbouncer', stopSignal: 'SIGTERM' });
  const behind = new URL(databaseUrl);
  const users = await folder.write('users', `"${behind.username}" "${behind.password}"\n`);
  const port = await findFreePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    pool_mode: mode,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  const databases = `[databases]\n* = host=${behind.hostname} port=${behind.port}\n`;
  const settingsFile = await folder.write('pgbouncer.ini', `${databases}[pgbouncer]\n${lines.join('')}`);
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  await folder.start([pgbouncer, settingsFile], () => answers(url.href));
  return { url: url.href, stop: () => folder.remove() };
}

import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { openPostgres, openPostgresKysely } from '../../src/database/postgres.ts';
import { createDatabase, postgresUrl } from '../services/postgres.ts';
import { until } from '../until.ts';

const OPTIONS = { connectionsMax: 2, statementMs: 200 };

describe.skipIf(postgresUrl === undefined)('connections to PostgreSQL', () => {
  test('cancel a statement that takes too long, on every connection', async () => {
    const database = await createDatabase();
    const pool = openPostgres(database.url, OPTIONS);
    const late = Array.from({ length: OPTIONS.connectionsMax }, () => pool.query('SELECT pg_sleep(5)').catch((error: unknown) => error));
    expect(await Promise.all(late)).toMatchObject([{ code: '57014' }, { code: '57014' }]);
    await pool.end();
    await database.drop();
  });

  test('are replaced after a failover that drops them silently', async () => {
    const database = await createDatabase();
    const { port } = new URL(database.url);
    const relay = await startRelay(Number(port));
    const kysely = openPostgresKysely(database.url.replace(`:${port}/`, `:${relay.port}/`), OPTIONS.statementMs);
    const ask = (): Promise<unknown> => sql`SELECT 1 AS one`.execute(kysely).then(({ rows }) => rows);
    expect(await ask()).toEqual([{ one: 1 }]);
    relay.silence();
    expect(await ask().catch(String)).toContain('Query read timeout');
    expect(await ask()).toEqual([{ one: 1 }]);
    await kysely.destroy();
    relay.stop();
    await database.drop();
  });

  test('are replaced from time to time, so that a switch to another server is noticed', async () => {
    const database = await createDatabase();
    const kysely = openPostgresKysely(database.url, undefined, 1);
    const processes = new Set<unknown>();
    await until(async () => {
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(kysely);
      return processes.add(rows[0]?.pid).size > 1;
    });
    await kysely.destroy();
    await database.drop();
  });
});

/** Relays connections to a local port. Once silenced, those open at that moment stay open, but nothing passes any more. */
async function startRelay(target: number): Promise<{ port: number; silence: () => void; stop: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => sockets.forEach((socket) => socket.unpipe().resume()),
    stop: () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}

/** Runs a fake server that accepts one connection, reads its first packet and replies as told. `check` sees that packet and the result. */
async function withServer(reply: (socket: Socket) => void, check: (first: Buffer, answer: unknown) => void): Promise<void> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = openPostgres(`postgres://somebody:secret@127.0.0.1:${port}/tollgate`, OPTIONS);
  const answer = pool.query('SELECT 1').catch((error: unknown) => error);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [first] = (await once(socket, 'data')) as [Buffer];
  reply(socket);
  check(first, await answer);
  await pool.end();
  server.close();
}

test('connections to PostgreSQL start with no parameter that a pooler such as PgBouncer refuses', () =>
  withServer(
    (socket) => socket.destroy(),
    (first, answer) => {
      expect(answer).toBeInstanceOf(Error);
      // After the length and the version come names and values, each terminated by a zero byte.
      const words = first.subarray(8).toString('utf8').split('\0');
      const names = words.filter((word, index) => index % 2 === 0 && word !== '');
      expect(names.toSorted()).toEqual(['application_name', 'client_encoding', 'database', 'user']);
    },
  ));

test('a server that accepts the connection and then stays silent times out', () =>
  withServer(
    (socket) => socket.write(ACCEPTED),
    (_, answer) => expect(String(answer)).toContain('timeout'),
  ));

/** AuthenticationOk and ReadyForQuery. */
const ACCEPTED = Buffer.from([...Buffer.from('R'), 0, 0, 0, 8, 0, 0, 0, 0, ...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);

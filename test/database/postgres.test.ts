import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { openPostgres } from '../../src/database/postgres.ts';
import { createDatabase, postgresUrl } from '../services/postgres.ts';

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
});

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

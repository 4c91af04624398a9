import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { createDatabase, findPostgres, postgresUrl, startPrivatePostgres } from './postgres.ts';
import type { PrivatePostgres } from './private-postgres.ts';
import { areGone, childrenOf } from './processes.ts';

type Row = Readonly<Record<string, unknown>>;

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  return client;
}

async function ask(url: string, statement: string): Promise<Row[]> {
  const client = await connect(url);
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(postgresUrl === undefined)('the shared PostgreSQL', () => {
  test('gives each suite its own empty database, and drops it even with open connections', async () => {
    const [mine, yours] = await Promise.all([createDatabase(), createDatabase()]);
    await ask(mine.url, 'create table coins (id int primary key)');
    expect(await ask(mine.url, 'select count(*)::int from coins')).toEqual([{ count: 0 }]);
    expect(await ask(yours.url, `select to_regclass('coins') as found`)).toEqual([{ found: null }]);

    const connected = await connect(mine.url);
    const cutOff = new Promise<Error>((resolve) => connected.on('error', resolve));
    await Promise.all([mine.drop(), yours.drop()]);
    expect(await cutOff).toMatchObject({ code: '57P01' });
    await expect(ask(mine.url, 'select 1')).rejects.toMatchObject({ code: '3D000' });
  });
});

describe.skipIf((await findPostgres()) === undefined)('a private PostgreSQL', () => {
  let server: PrivatePostgres;
  beforeAll(async () => {
    server = await startPrivatePostgres();
  }, 120_000);
  afterAll(() => server.stop());

  test('keeps exactly the committed rows when it is killed in the middle of a transaction', async () => {
    await ask(server.url, 'create table coins (id int primary key); insert into coins select generate_series(1, 1000)');
    const writer = await connect(server.url);
    writer.on('error', () => {});
    await writer.query('begin; insert into coins values (0)');
    const before = { pid: server.pid, children: childrenOf(server.pid) };
    expect(before.children.length).toBeGreaterThan(2);

    await server.kill();
    expect(await areGone([before.pid, ...before.children], 0)).toBeTrue();
    await expect(ask(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    await server.restart();
    expect(server.pid).not.toBe(before.pid);
    expect(server.readyMs).toBeGreaterThan(0);
    expect(await ask(server.url, 'select min(id), count(*)::int from coins')).toEqual([{ min: 1, count: 1000 }]);
  });

  test('flushes commits to disk', async () => {
    expect(await ask(server.url, 'show fsync')).toEqual([{ fsync: 'on' }]);
    expect(await ask(server.url, 'show synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  });

  test('leaves no process and no folder when it is stopped', async () => {
    const other = await startPrivatePostgres();
    const [row] = await ask(other.url, 'show data_directory');
    const folder = dirname(String(row?.['data_directory']));
    const pids = [other.pid, ...childrenOf(other.pid)];
    expect(existsSync(folder)).toBeTrue();
    await other.stop();
    expect(await areGone(pids, 0)).toBeTrue();
    expect(existsSync(folder)).toBeFalse();
  });
});

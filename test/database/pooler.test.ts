import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { MAIN } from '../services/built.ts';
import { findFreePort } from '../services/free-port.ts';
import { findPgBouncer, startPgBouncer, type PoolMode, type PrivatePgBouncer } from '../services/pgbouncer.ts';
import { createDatabase, postgresUrl, type TestDatabase } from '../services/postgres.ts';
import { until } from '../until.ts';

const REQUESTS = 20;
const isMissing = postgresUrl === undefined || (await findPgBouncer()) === undefined;

interface Ended {
  readonly code: number;
  readonly stderr: string;
  /** The response status of each request. */
  readonly statuses: readonly number[];
}

/** Starts a node behind a pooler. If it comes up, sends requests with its trial key, then stops it. */
async function serveBehind(url: string): Promise<Ended> {
  const port = await findFreePort();
  const env = { PATH: process.env['PATH'], DATABASE_URL: url, PORT: String(port) };
  const child = Bun.spawn([process.execPath, MAIN, 'serve'], { env, stderr: 'pipe' });
  const stderr = child.stderr.text();
  let message = '';
  for await (const chunk of child.stdout) {
    message += Buffer.from(chunk).toString('utf8');
    if (message.includes('not shown again')) break;
  }
  const secret = /sk-tg-\w+/u.exec(message)?.[0];
  const statuses = secret === undefined ? [] : await sendMany(`http://127.0.0.1:${port}`, secret);
  child.kill('SIGTERM');
  return { code: await child.exited, stderr: await stderr, statuses };
}

function sendMany(address: string, secret: string): Promise<number[]> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] });
  const send = async (): Promise<number> => {
    const response = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body });
    await response.text();
    return response.status;
  };
  // On a busy machine the first response may be late.
  const answered = (): Promise<number> => until(async () => (await send()) === 200 && 200);
  return Promise.all(Array.from({ length: REQUESTS }, answered));
}

describe.skipIf(isMissing)('behind PgBouncer', () => {
  let database: TestDatabase;
  const poolers = new Map<PoolMode, PrivatePgBouncer>();
  const urlOf = (mode: PoolMode): string => poolers.get(mode)?.url ?? '';

  beforeAll(async () => {
    database = await createDatabase();
    for (const mode of ['session', 'transaction', 'statement'] as const) poolers.set(mode, await startPgBouncer(database.url, mode));
  });
  afterAll(async () => {
    for (const pooler of poolers.values()) await pooler.stop();
    await database.drop();
  });

  test('migrations and a node work in session mode', async () => {
    const opened = await connect({ databaseUrl: urlOf('session'), databasePath: '' });
    expect(await migrate(opened.kysely, opened.dialect)).toContain('001-initial');
    await opened.kysely.destroy();
    expect(await serveBehind(urlOf('session'))).toMatchObject({ code: 0, statuses: Array.from({ length: REQUESTS }, () => 200) });
  });

  test.each([
    ['transaction', 'DATABASE_URL points to a pooler that shares connections between transactions.'],
    ['statement', 'transaction blocks not allowed in statement pooling mode'],
  ] as const)('a node in %s mode fails at startup with the reason, instead of failing under load', async (mode, message) => {
    const { code, stderr } = await serveBehind(urlOf(mode));
    expect(stderr).toStartWith(message);
    expect(code).toBe(1);
  });

  test.each([
    ['transaction', 'set pool_mode = session.'],
    ['statement', 'not allowed in statement pooling mode'],
  ] as const)('migrations refuse to run in %s mode, where the next one would wait for their lock', async (mode, message) => {
    const empty = await createDatabase();
    const pooler = await startPgBouncer(empty.url, mode);
    const opened = await connect({ databaseUrl: pooler.url, databasePath: '' });
    await expect(migrate(opened.kysely, opened.dialect)).rejects.toThrow(message);
    await opened.kysely.destroy();
    await pooler.stop();
    await empty.drop();
  });
});

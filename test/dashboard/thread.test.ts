import { afterAll, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { DashboardSettings, FromDashboard, ToDashboard } from '../../src/dashboard/messages.ts';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { startServer } from '../../src/http/server.ts';
import { exchangeBytes } from '../faults/raw-client.ts';
import { ORIGIN, SETTINGS as USUAL } from './open-dashboard.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-thread-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SETTINGS: DashboardSettings = { ...USUAL, databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') };
/** Nobody listens there. */
const AWAY = 'postgres://tollgate@127.0.0.1:1/tollgate';

test('a database that is away when the thread starts is no reason to stay away when it is back', async () => {
  const { kysely, dialect } = await connect(SETTINGS);
  await migrate(kysely, dialect);
  await kysely.destroy();
  let databaseUrl: string | undefined = AWAY;
  const failures: string[] = [];
  const dashboard = new Dashboard(() => ({ ...SETTINGS, databaseUrl }), {
    answer: async () => [],
    failed: (event) => failures.push(event),
    notice: () => undefined,
  });
  const ask = async (): Promise<number> => (await dashboard.fetch(new Request(`${ORIGIN}/api/session`), '192.0.2.1')).status;
  const beganAtMs = performance.now();
  expect(await ask()).toBe(500);
  expect(performance.now() - beganAtMs).toBeLessThan(10_000);
  expect(failures).toContain("the dashboard's thread ended");
  databaseUrl = undefined;
  expect(await ask()).toBeLessThan(500);
  await dashboard.close();
});

test('a request without a host, or with a body that takes long to write, keeps nobody waiting', async () => {
  const { kysely, dialect } = await connect(SETTINGS);
  await migrate(kysely, dialect);
  await kysely.destroy();
  const failures: string[] = [];
  const dashboard = new Dashboard(() => SETTINGS, {
    answer: async () => [],
    failed: (event) => failures.push(event),
    notice: () => undefined,
  });
  const server = startServer({
    host: '127.0.0.1',
    port: 0,
    routes: { '/api/*': (request, connection) => dashboard.fetch(request, connection.address()) },
    onError: () => new Response(null, { status: 500 }),
  });
  const statusFor = async (host: string): Promise<number | string> => {
    const bytes = Buffer.from(`GET /api/setup HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1');
    const outcome = await exchangeBytes({ port: server.port, bytes, isCut: false, isHead: false, timeoutMs: 10_000 });
    return outcome.type === 'answer' ? outcome.status : outcome.type;
  };
  for (const host of ['gate.test', '', 'a b', 'a/b', 'x@y', 'a b/c?d#e@f']) expect([host, await statusFor(host)]).toEqual([host, 200]);
  for (const host of ['gate.test:99999', '[::1']) expect([host, await statusFor(host)]).toEqual([host, 400]);
  const deep = (levels: number): Promise<Response> => {
    const body = `{"response":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
    const headers = { origin: ORIGIN, 'content-type': 'application/json' };
    return dashboard.fetch(new Request(`${ORIGIN}/api/auth/passkey/verify-authentication`, { method: 'POST', headers, body }), '192.0.2.1');
  };
  expect(await (await deep(60)).text()).toContain('challenge_not_found');
  const beganAtMs = performance.now();
  expect(await (await deep(40_000)).text()).toContain('nested more than 64 levels deep');
  expect(performance.now() - beganAtMs).toBeLessThan(1000);
  expect(failures).toEqual([]);
  await server.stop(true);
  await dashboard.close();
});

const NOBODY = { answer: async () => [], failed: () => undefined, notice: () => undefined };

test('a file that begins when nobody waits for it any more is not kept open', () => {
  const told: ToDashboard[] = [];
  let thread: { onmessage?: (event: { readonly data: FromDashboard }) => void } = {};
  const worker = spyOn(globalThis, 'Worker').mockImplementation((() => {
    thread = { postMessage: (message: ToDashboard) => told.push(message), unref: () => undefined } as typeof thread;
    return thread;
  }) as never);
  new Dashboard(() => SETTINGS, NOBODY).wake();
  worker.mockRestore();
  thread.onmessage?.({ data: { type: 'reply', id: 7, reply: { status: 200, headers: [], body: undefined } } });
  expect(told.slice(1)).toEqual([{ type: 'cancel', id: 7 }]);
});
